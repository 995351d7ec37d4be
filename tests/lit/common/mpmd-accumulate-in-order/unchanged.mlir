// RUN: mpmd-opt %s -mpmd-accumulate-in-order | FileCheck %s

#topology = #mpmd.topology<<"m0": <["x"=2]>>>

// A microbatch needs what the one before computes in another way than as a sum.
// CHECK-LABEL: func.func public @state(
// CHECK: mpmd.call @step(%arg0, %arg2, %arg3) {call_counter = 1
// CHECK: mpmd.call @step(%arg1, {{.*}}) {call_counter = 0
func.func public @state(%x0: tensor<8xf32>, %x1: tensor<8xf32>, %zero: tensor<8xf32>, %state: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<8xf32>) attributes {topology = #topology} {
  %1:2 = mpmd.call @step(%x0, %zero, %state) {call_counter = 1 : ui32} : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %0:2 = mpmd.call @step(%x1, %1#0, %1#1) {call_counter = 0 : ui32} : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}

func.func private @step(%x: tensor<8xf32>, %sum: tensor<8xf32>, %state: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<8xf32>) attributes {topology = #topology} {
  %r = stablehlo.add %sum, %x : tensor<8xf32>
  %s = stablehlo.multiply %state, %x : tensor<8xf32>
  return %r, %s : tensor<8xf32>, tensor<8xf32>
}

// Ascending already; scalars, such as a loss; calls without a counter; a result that is used elsewhere.
// CHECK-LABEL: func.func public @nothing_to_do(
// CHECK: %[[A0:.*]]:2 = mpmd.call @pass_on(%arg0, %arg2, %arg3) {call_counter = 0
// CHECK: %[[A1:.*]]:2 = mpmd.call @pass_on(%arg1, %[[A0]]#0, %arg3) {call_counter = 1
// CHECK: stablehlo.add %[[A0]]#1, %[[A1]]#1 : tensor<f32>
// CHECK: %[[B0:.*]] = mpmd.call @plain(%arg0) :
// CHECK: %[[B1:.*]] = mpmd.call @plain(%arg1) :
// CHECK: stablehlo.add %[[B0]], %[[B1]] : tensor<8xf32>
// CHECK: %[[C0:.*]] = mpmd.call @plain(%arg0) {call_counter = 0
// CHECK: %[[C1:.*]] = mpmd.call @plain(%arg1) {call_counter = 1
// CHECK: stablehlo.add %[[C0]], %[[C1]] : tensor<8xf32>
func.func public @nothing_to_do(%x0: tensor<8xf32>, %x1: tensor<8xf32>, %zero: tensor<8xf32>, %loss: tensor<f32>)
    -> (tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) attributes {topology = #topology} {
  %0:2 = mpmd.call @pass_on(%x0, %zero, %loss) {call_counter = 0 : ui32} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<f32>)
  %1:2 = mpmd.call @pass_on(%x1, %0#0, %loss) {call_counter = 1 : ui32} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<f32>)
  %2 = stablehlo.add %0#1, %1#1 : tensor<f32>
  %3 = mpmd.call @plain(%x0) : (tensor<8xf32>) -> tensor<8xf32>
  %4 = mpmd.call @plain(%x1) : (tensor<8xf32>) -> tensor<8xf32>
  %5 = stablehlo.add %3, %4 : tensor<8xf32>
  %6 = mpmd.call @plain(%x0) {call_counter = 0 : ui32} : (tensor<8xf32>) -> tensor<8xf32>
  %7 = mpmd.call @plain(%x1) {call_counter = 1 : ui32} : (tensor<8xf32>) -> tensor<8xf32>
  %8 = stablehlo.add %6, %7 : tensor<8xf32>
  return %1#0, %2, %5, %8, %7 : tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

func.func private @pass_on(%x: tensor<8xf32>, %sum: tensor<8xf32>, %loss: tensor<f32>)
    -> (tensor<8xf32>, tensor<f32>) attributes {topology = #topology} {
  %r = stablehlo.add %sum, %x : tensor<8xf32>
  return %r, %loss : tensor<8xf32>, tensor<f32>
}

func.func private @plain(%x: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #topology} {
  %r = stablehlo.multiply %x, %x : tensor<8xf32>
  return %r : tensor<8xf32>
}
