// RUN: mpmd-opt %s -mpmd-infer-mesh-validate-src-set-not-empty | FileCheck %s

!t = tensor<4x8xf32>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>, <"m3": <["x"=2]>>>

// CHECK-LABEL: func @somewhere
func.func @somewhere(%a: !m1) -> !m1 attributes {topology = #topology} {
  // CHECK: mpmd.unassign {mpmd.src_set = #mpmd.meshes_with_origins<"m1">}
  // CHECK-NEXT: stablehlo.sine %{{.*}} {mpmd.src_set = #mpmd.meshes_with_origins<"m1">}
  %0 = mpmd.unassign {mpmd.src_set = #mpmd.meshes_with_origins<"m1">} %a : (!m1) -> !t
  %1 = stablehlo.sine %0 {mpmd.src_set = #mpmd.meshes_with_origins<"m1">} : !t
  return %a : !m1
}
