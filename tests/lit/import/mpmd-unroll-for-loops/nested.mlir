// RUN: mpmd-opt %s -mpmd-unroll-for-loops | FileCheck %s

#topology = #mpmd.topology<<"m": <["x"=2]>>>

// Iteration (o, i) of the inner loop has the counter o * 3 + i.
// CHECK-LABEL: func @loop_in_loop
// CHECK-SAME:    (%[[X:.*]]: tensor<ui32>)
func.func @loop_in_loop(%x: tensor<ui32>) -> tensor<ui32> attributes {topology = #topology} {
  // CHECK-NOT:  mpmd.for
  // CHECK:      %[[O0:.*]] = stablehlo.constant {unroll_counter = 0 : ui32} dense<0>
  // CHECK:      stablehlo.add %[[X]], {{.*}} {unroll_counter = 0 : ui32}
  // CHECK:      stablehlo.add {{.*}} {unroll_counter = 1 : ui32}
  // CHECK:      %[[L2:.*]] = stablehlo.add {{.*}} {unroll_counter = 2 : ui32}
  // CHECK:      %[[M0:.*]] = stablehlo.multiply %[[L2]], %[[O0]] {unroll_counter = 0 : ui32}
  // CHECK:      %[[O1:.*]] = stablehlo.constant {unroll_counter = 1 : ui32} dense<1>
  // CHECK:      stablehlo.constant {unroll_counter = 3 : ui32} dense<0>
  // CHECK:      stablehlo.add %[[M0]], {{.*}} {unroll_counter = 3 : ui32}
  // CHECK:      stablehlo.add {{.*}} {unroll_counter = 4 : ui32}
  // CHECK:      %[[L5:.*]] = stablehlo.add {{.*}} {unroll_counter = 5 : ui32}
  // CHECK:      %[[M1:.*]] = stablehlo.multiply %[[L5]], %[[O1]] {unroll_counter = 1 : ui32}
  // CHECK:      return %[[M1]]
  %0 = mpmd.for (%x) {iterations = 2 : ui32, unroll_factor = 2 : ui32} (%a: tensor<ui32>, %outer: tensor<ui32>) {
    %1 = mpmd.for (%a) {iterations = 3 : ui32, unroll_factor = 3 : ui32} (%b: tensor<ui32>, %inner: tensor<ui32>) {
      %2 = stablehlo.add %b, %inner : tensor<ui32>
      mpmd.return %2 : tensor<ui32>
    } : tensor<ui32>
    %3 = stablehlo.multiply %1, %outer : tensor<ui32>
    mpmd.return %3 : tensor<ui32>
  } : tensor<ui32>
  return %0 : tensor<ui32>
}

// CHECK-LABEL: func @loop_in_label
func.func @loop_in_label(%x: tensor<ui32>) -> tensor<ui32> attributes {topology = #topology} {
  // CHECK:      mpmd.named_computation<"f">
  // CHECK:        stablehlo.add {{.*}} {unroll_counter = 0 : ui32}
  // CHECK:        %[[LAST:.*]] = stablehlo.add {{.*}} {unroll_counter = 1 : ui32}
  // CHECK-NEXT:   mpmd.return %[[LAST]]
  %0 = mpmd.named_computation<"f"> (%x) (%a: tensor<ui32>) {
    %1 = mpmd.for (%a) {iterations = 2 : ui32, unroll_factor = 2 : ui32} (%b: tensor<ui32>, %index: tensor<ui32>) {
      %2 = stablehlo.add %b, %index : tensor<ui32>
      mpmd.return %2 : tensor<ui32>
    } : tensor<ui32>
    mpmd.return %1 : tensor<ui32>
  } : (tensor<ui32>) -> tensor<ui32>
  return %0 : tensor<ui32>
}
