// RUN: mpmd-opt %s -mpmd-unroll-for-loops | FileCheck %s

#topology = #mpmd.topology<<"m": <["x"=2]>>>

// CHECK-LABEL: func @carries_values
// CHECK-SAME:    (%[[X:.*]]: tensor<ui32>, %[[Y:.*]]: tensor<ui32>)
func.func @carries_values(%x: tensor<ui32>, %y: tensor<ui32>) -> (tensor<ui32>, tensor<ui32>)
    attributes {topology = #topology} {
  // CHECK-NEXT: %[[I0:.*]] = stablehlo.constant {unroll_counter = 0 : ui32} dense<0> : tensor<ui32>
  // CHECK-NEXT: %[[A0:.*]] = stablehlo.add %[[X]], %[[I0]] {unroll_counter = 0 : ui32}
  // CHECK-NEXT: %[[M0:.*]] = stablehlo.multiply %[[A0]], %[[Y]] {unroll_counter = 0 : ui32}
  // CHECK-NEXT: %[[I1:.*]] = stablehlo.constant {unroll_counter = 1 : ui32} dense<1> : tensor<ui32>
  // CHECK-NEXT: %[[A1:.*]] = stablehlo.add %[[M0]], %[[I1]] {unroll_counter = 1 : ui32}
  // CHECK-NEXT: %[[M1:.*]] = stablehlo.multiply %[[A1]], %[[X]] {unroll_counter = 1 : ui32}
  // CHECK-NEXT: return %[[M1]], %[[M0]]
  %0:2 = mpmd.for (%x, %y) {iterations = 2 : ui32, unroll_factor = 2 : ui32} (%a: tensor<ui32>, %b: tensor<ui32>, %index: tensor<ui32>) {
    %1 = stablehlo.add %a, %index : tensor<ui32>
    %2 = stablehlo.multiply %1, %b : tensor<ui32>
    mpmd.return %2, %a : tensor<ui32>, tensor<ui32>
  } : tensor<ui32>, tensor<ui32>
  return %0#0, %0#1 : tensor<ui32>, tensor<ui32>
}

// The counter goes onto what stands in the loop, not onto what stands in that.
// CHECK-LABEL: func @calls_and_labels
func.func @calls_and_labels(%x: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #topology} {
  // CHECK:      mpmd.call @body({{.*}}) {unroll_counter = 0 : ui32}
  // CHECK-NEXT: mpmd.named_computation<"f"> ({{.*}}) {unroll_counter = 0 : ui32}
  // CHECK-NEXT:   stablehlo.negate %{{[a-z0-9]*}} : tensor<8xf32>
  // CHECK:      mpmd.call @body({{.*}}) {unroll_counter = 1 : ui32}
  // CHECK-NEXT: mpmd.named_computation<"f"> ({{.*}}) {unroll_counter = 1 : ui32}
  %0 = mpmd.for (%x) {iterations = 2 : ui32, unroll_factor = 2 : ui32} (%a: tensor<8xf32>, %index: tensor<ui32>) {
    %1 = mpmd.call @body(%a) : (tensor<8xf32>) -> tensor<8xf32>
    %2 = mpmd.named_computation<"f"> (%1) (%b: tensor<8xf32>) {
      %3 = stablehlo.negate %b : tensor<8xf32>
      mpmd.return %3 : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    mpmd.return %2 : tensor<8xf32>
  } : tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func private @body(%x: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #topology} {
  return %x : tensor<8xf32>
}

// Whatever the factor says, no loop is left.
// CHECK-LABEL: func @any_unroll_factor
func.func @any_unroll_factor(%x: tensor<ui32>) -> tensor<ui32> attributes {topology = #topology} {
  // CHECK-COUNT-4: stablehlo.add
  // CHECK-NOT:     stablehlo.add
  // CHECK-COUNT-3: stablehlo.multiply
  // CHECK:         return
  %0 = mpmd.for (%x) {iterations = 4 : ui32, unroll_factor = 2 : ui32} (%a: tensor<ui32>, %index: tensor<ui32>) {
    %1 = stablehlo.add %a, %index : tensor<ui32>
    mpmd.return %1 : tensor<ui32>
  } : tensor<ui32>
  %2 = mpmd.for (%0) {iterations = 3 : ui32} (%a: tensor<ui32>, %index: tensor<ui32>) {
    %3 = stablehlo.multiply %a, %index : tensor<ui32>
    mpmd.return %3 : tensor<ui32>
  } : tensor<ui32>
  return %2 : tensor<ui32>
}

// The constants of the iterations are made even where a body does not ask for them.
// CHECK-LABEL: func @swap
// CHECK-SAME:    (%[[X:.*]]: tensor<f32>, %[[Y:.*]]: tensor<f32>)
func.func @swap(%x: tensor<f32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>) attributes {topology = #topology} {
  // CHECK: return %[[Y]], %[[X]]
  %0:2 = mpmd.for (%x, %y) {iterations = 3 : ui32, unroll_factor = 3 : ui32} (%a: tensor<f32>, %b: tensor<f32>, %index: tensor<ui32>) {
    mpmd.return %b, %a : tensor<f32>, tensor<f32>
  } : tensor<f32>, tensor<f32>
  return %0#0, %0#1 : tensor<f32>, tensor<f32>
}

// CHECK-LABEL: func @no_mpmd_function
// CHECK:         mpmd.for
func.func @no_mpmd_function(%x: tensor<ui32>) -> tensor<ui32> {
  %0 = mpmd.for (%x) {iterations = 2 : ui32, unroll_factor = 2 : ui32} (%a: tensor<ui32>, %index: tensor<ui32>) {
    mpmd.return %index : tensor<ui32>
  } : tensor<ui32>
  return %0 : tensor<ui32>
}
