// RUN: mpmd-opt %s -mpmd-mark-fragment-reserved-memory | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<2xcomplex<f32>>>

// CHECK-LABEL: func.func @main(
// CHECK: @f(%arg0) {reserved_hbm_bytes = 16 : i64}
// CHECK: @f(%arg1) {reserved_hbm_bytes = 32 : i64}
func.func @main(%a: !m0, %b: !m0) -> (!m0, !m0) attributes {topology = #mpmd.topology<<"m0": <["x"=2]>>>} {
  %0 = mpmd.fragment_call<mesh="m0", origin=["f"]> @f(%a) : (!m0) -> !m0
  %1 = mpmd.fragment_call<mesh="m0", origin=["f"]> @f(%b) : (!m0) -> !m0
  return %0, %1 : !m0, !m0
}
func.func private @f(%a: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
    attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  return %a : tensor<2xcomplex<f32>>
}
