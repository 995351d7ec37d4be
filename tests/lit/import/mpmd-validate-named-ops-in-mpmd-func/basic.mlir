// RUN: mpmd-opt %s -mpmd-validate-named-ops-in-mpmd-func -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @well_placed
// CHECK:         mpmd.named_computation<"outer">
// CHECK-NEXT:      mpmd.named_computation<"inner">
func.func @well_placed(%x: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  %0 = mpmd.named_computation<"outer"> (%x) (%a: tensor<8xf32>) {
    %1 = mpmd.named_computation<"inner"> (%a) (%b: tensor<8xf32>) {
      mpmd.return %b : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    %2 = mpmd.named_tensor %1 name="inner" : tensor<8xf32>
    mpmd.return %2 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %3 = mpmd.for (%0) {iterations = 2 : ui32, unroll_factor = 2 : ui32} (%a: tensor<8xf32>, %index: tensor<ui32>) {
    %4 = mpmd.named_tensor %a name="in_loop" : tensor<8xf32>
    mpmd.return %4 : tensor<8xf32>
  } : tensor<8xf32>
  return %3 : tensor<8xf32>
}
