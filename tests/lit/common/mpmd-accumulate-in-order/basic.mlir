// RUN: mpmd-opt %s -split-input-file -mpmd-accumulate-in-order | FileCheck %s

#topology = #mpmd.topology<<"m0": <["x"=2]>>>

// Calls that pass a sum on from the last microbatch to the first do so the other way around.
// CHECK-LABEL: func.func public @passed_on(
// CHECK: %[[B0:.*]]:2 = mpmd.call @bwd(%arg0, %arg2) {call_counter = 0 : ui32}
// CHECK: %[[B1:.*]]:2 = mpmd.call @bwd(%arg1, %[[B0]]#0) {call_counter = 1 : ui32}
// CHECK: return %[[B1]]#0, %[[B1]]#1, %[[B0]]#1
func.func public @passed_on(%x0: tensor<8xf32>, %x1: tensor<8xf32>, %zero: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) attributes {topology = #topology} {
  %1:2 = mpmd.call @bwd(%x1, %zero) {call_counter = 1 : ui32} : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %0:2 = mpmd.call @bwd(%x0, %1#0) {call_counter = 0 : ui32} : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %0#0, %1#1, %0#1 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

func.func private @bwd(%x: tensor<8xf32>, %sum: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
    attributes {topology = #topology} {
  %g = mpmd.named_computation<"f"(1)> (%x) (%p: tensor<8xf32>) {
    %r = stablehlo.multiply %p, %p : tensor<8xf32>
    mpmd.return %r : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %r = stablehlo.add %sum, %g : tensor<8xf32>
  return %r, %g : tensor<8xf32>, tensor<8xf32>
}

// -----

#topology = #mpmd.topology<<"m0": <["x"=2]>>>

// Where the function adds up what calls return, the callee does instead, starting from zero.
// CHECK-LABEL: func.func public @added_up(
// CHECK: %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<8xf32>
// CHECK: %[[B0:.*]]:2 = mpmd.call @bwd_sum(%arg0, %[[ZERO]]) {call_counter = 0 : ui32}
// CHECK: %[[B1:.*]]:2 = mpmd.call @bwd_sum(%arg1, %[[B0]]#0) {call_counter = 1 : ui32}
// CHECK: %[[B2:.*]]:2 = mpmd.call @bwd_sum(%arg2, %[[B1]]#0) {call_counter = 2 : ui32}
// CHECK: %[[R:.*]] = stablehlo.add %[[B2]]#0, %arg3
// CHECK: return %[[R]], %[[B1]]#1
// CHECK-NOT: @bwd(
// CHECK: func.func private @bwd_sum(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>)
// CHECK: %[[G:.*]]:2 = mpmd.named_computation<"f"(1)> (%arg0)
// CHECK: %[[S:.*]] = stablehlo.add %arg1, %[[G]]#0
// CHECK: return %[[S]], %[[G]]#1
func.func public @added_up(%x0: tensor<8xf32>, %x1: tensor<8xf32>, %x2: tensor<8xf32>, %y: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<8xf32>) attributes {topology = #topology} {
  %2:2 = mpmd.call @bwd(%x2) {call_counter = 2 : ui32} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %1:2 = mpmd.call @bwd(%x1) {call_counter = 1 : ui32} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %3 = stablehlo.add %2#0, %1#0 : tensor<8xf32>
  %0:2 = mpmd.call @bwd(%x0) {call_counter = 0 : ui32} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %4 = stablehlo.add %3, %0#0 : tensor<8xf32>
  %5 = stablehlo.add %4, %y : tensor<8xf32>
  return %5, %1#1 : tensor<8xf32>, tensor<8xf32>
}

func.func private @bwd(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
    attributes {topology = #topology} {
  %g:2 = mpmd.named_computation<"f"(1)> (%x) (%p: tensor<8xf32>) {
    %r = stablehlo.multiply %p, %p : tensor<8xf32>
    mpmd.return %r, %p : tensor<8xf32>, tensor<8xf32>
  } : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %g#0, %g#1 : tensor<8xf32>, tensor<8xf32>
}
