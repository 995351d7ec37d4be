// RUN: mpmd-opt %s -mpmd-infer-mesh-assign-mesh-func-leaves -verify-diagnostics
// RUN: mpmd-opt %s -mpmd-infer-mesh-assign-mesh-func-leaves=infer-transfers | FileCheck %s

!t = tensor<4x8xf32>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>, <"m3": <["x"=2]>>>

// CHECK-LABEL: func @nowhere
func.func @nowhere(%a: !m1, %b: !m2) -> !m1 attributes {topology = #topology} {
  %0 = mpmd.unassign {mpmd.src_set = #mpmd.meshes_with_origins<"m1">} %a : (!m1) -> !t
  %1 = mpmd.unassign {mpmd.src_set = #mpmd.meshes_with_origins<"m2">} %b : (!m2) -> !t
  // CHECK: stablehlo.subtract
  // CHECK-NEXT: mpmd.assign {origin = "inferred_unused"} %{{.*}} -> !mpmd.mesh_tensor<"m1"
  // expected-error@+1 {{src_set must not be empty for this op}}
  %2 = stablehlo.subtract %0, %1 {mpmd.src_set = #mpmd.meshes_with_origins<>} : !t
  return %a : !m1
}
