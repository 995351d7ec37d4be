// RUN: mpmd-opt %s -mpmd-infer-mesh-validate-no-additional-transfers-needed -verify-diagnostics
// RUN: not mpmd-opt %s -mpmd-infer-mesh-validate-no-additional-transfers-needed 2>&1 | FileCheck %s

!t = tensor<4x8xf32>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>, <"m3": <["x"=2]>>>

// CHECK:      error: Mesh assignment is not possible for op as it is used in {m2} but it can only be placed on {m1} without introducing a transfer.
// CHECK:      Can be assigned to meshes: {m1} which originates from the intersection of:
// CHECK-NEXT:  - Input {{.*}}: m1[f]
// CHECK:      But was used in meshes: {m2} which originates from the union of:
// CHECK-NEXT:  - Output {{.*}}: m2[g]
func.func @outside(%a: !m1) -> !m2 attributes {topology = #topology} {
  %0 = mpmd.unassign {mpmd.src_set = #mpmd.meshes_with_origins<"m1"["f"]>} %a : (!m1) -> !t
  // expected-error@+1 {{it is used in {m2} but it can only be placed on {m1} without introducing a transfer}}
  %1 = stablehlo.sine %0 {mpmd.src_set = #mpmd.meshes_with_origins<"m1">, mpmd.use_set = #mpmd.meshes_with_origins<"m2">} : !t
  // expected-error@+1 {{it is used in {m2} but it can only be placed on {m1}}}
  %2 = mpmd.assign {mpmd.src_set = #mpmd.meshes_with_origins<"m1">, mpmd.use_set = #mpmd.meshes_with_origins<"m2"["g"]>} %1 : (!t) -> !m2
  return %2 : !m2
}
