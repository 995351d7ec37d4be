// RUN: mpmd-opt %s -mpmd-split-bwd-fragments=minimize-residuals -verify-diagnostics | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x4xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>>

// One operation makes both gradients: the rest is a sum. Two microbatches, one warning.
// CHECK-LABEL: func.func @main(
// CHECK-NOT: split_
// CHECK: return
func.func @main(%g: !m1, %sum: !m1) -> (!m0, !m0, !m1) attributes {topology = #topology} {
  // expected-warning @+1 {{the backward of f(1), g(1) on mesh 'm1' stays whole: nothing in it that is worth a fragment of its own can wait until after what it transfers}}
  %0:2 = mpmd.fragment<mesh="m1", origin=["f"(1), "g"(1)]> (%g, %sum) {call_counter = 0 : ui32} (%arg0: tensor<4x4xf32>, %arg1: tensor<4x4xf32>) {
    %both:2 = stablehlo.custom_call @both(%arg0) : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
    %dw = stablehlo.add %arg1, %both#1 : tensor<4x4xf32>
    mpmd.return %both#0, %dw : tensor<4x4xf32>, tensor<4x4xf32>
  } : (!m1, !m1) -> (!m1, !m1)
  %t = mpmd.transfer %0#0 : (!m1) -> !m0
  %1:2 = mpmd.fragment<mesh="m1", origin=["f"(1), "g"(1)]> (%g, %0#1) {call_counter = 1 : ui32} (%arg0: tensor<4x4xf32>, %arg1: tensor<4x4xf32>) {
    %both:2 = stablehlo.custom_call @both(%arg0) : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
    %dw = stablehlo.add %arg1, %both#1 : tensor<4x4xf32>
    mpmd.return %both#0, %dw : tensor<4x4xf32>, tensor<4x4xf32>
  } : (!m1, !m1) -> (!m1, !m1)
  %u = mpmd.transfer %1#0 : (!m1) -> !m0
  return %t, %u, %1#1 : !m0, !m0, !m1
}
