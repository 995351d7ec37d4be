// RUN: mpmd-opt %s -mpmd-inline-nested-calls | FileCheck %s

// CHECK-LABEL: func public @main
// CHECK-SAME:    (%[[X:.*]]: tensor<8xf32>)
func.func public @main(%x: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  // CHECK-NEXT: %[[A:.*]] = mpmd.call @layer(%[[X]]) {call_counter = 4 : ui32}
  // CHECK-NEXT: %[[L:.*]] = mpmd.named_computation<"glue"> (%[[A]]) {call_counter = 4 : ui32}
  // CHECK:      %[[B:.*]] = mpmd.call @layer(%[[L]]) {call_counter = 4 : ui32}
  // CHECK-NEXT: %[[F:.*]] = mpmd.for (%[[B]])
  // CHECK-NEXT:   mpmd.call @layer({{.*}}) {call_counter = 4 : ui32}
  // CHECK:      %[[C:.*]] = mpmd.call @layer(%[[F]]) {call_counter = 9 : ui32}
  // CHECK-NEXT: return %[[C]]
  %0 = mpmd.call @twice(%x) {call_counter = 4 : ui32} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = mpmd.call @layer(%0) {call_counter = 9 : ui32} : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// CHECK-NOT: @twice
// CHECK-NOT: @step
func.func @twice(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = mpmd.call @step(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = mpmd.for (%0) {iterations = 2 : ui32, unroll_factor = 2 : ui32} (%a: tensor<8xf32>, %index: tensor<ui32>) {
    %2 = mpmd.call @layer(%a) {call_counter = 1 : ui32} : (tensor<8xf32>) -> tensor<8xf32>
    mpmd.return %2 : tensor<8xf32>
  } : tensor<8xf32>
  return %1 : tensor<8xf32>
}

func.func private @step(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = mpmd.call @layer(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = mpmd.named_computation<"glue"> (%0) (%a: tensor<8xf32>) {
    %2 = stablehlo.negate %a : tensor<8xf32>
    mpmd.return %2 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %3 = mpmd.call @layer(%1) : (tensor<8xf32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}

// CHECK-LABEL: func private @layer
// CHECK-NEXT:    stablehlo.negate
func.func private @layer(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.negate %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
