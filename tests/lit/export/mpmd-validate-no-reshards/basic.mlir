// RUN: mpmd-opt %s -mpmd-validate-no-reshards -verify-diagnostics | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>>

// CHECK-LABEL: func.func @main(
func.func @main(%a: !m0, %b: !m0) -> (!m0, !m0, !m0) attributes {topology = #mpmd.topology<<"m0": <["x"=2]>>>} {
  // expected-warning @+1 {{Detected reshard-only fragment 'swap'}}
  %0:2 = mpmd.fragment_call<mesh="m0", origin=[]> @swap(%a, %b) : (!m0, !m0) -> (!m0, !m0)
  %1 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x: tensor<4x8xf32>) {
    mpmd.return %x : tensor<4x8xf32>
  } : (!m0) -> !m0
  return %0#0, %0#1, %1 : !m0, !m0, !m0
}
func.func @swap(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
    attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  return %b, %a : tensor<4x8xf32>, tensor<4x8xf32>
}
