// RUN: mpmd-opt %s -mpmd-infer-mesh-validate-no-additional-transfers-needed | FileCheck %s

!t = tensor<4x8xf32>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>, <"m3": <["x"=2]>>>

// CHECK-LABEL: func @inside
func.func @inside(%a: !m1) -> !m1 attributes {topology = #topology} {
  // CHECK: mpmd.unassign
  %0 = mpmd.unassign {mpmd.src_set = #mpmd.meshes_with_origins<"m1">, mpmd.use_set = #mpmd.meshes_with_origins<"m2">} %a : (!m1) -> !t
  %1 = stablehlo.sine %0 {mpmd.src_set = #mpmd.meshes_with_origins<"m1", "m2">, mpmd.use_set = #mpmd.meshes_with_origins<"m2">} : !t
  %2 = stablehlo.constant {mpmd.use_set = #mpmd.meshes_with_origins<"m2">} dense<1.0> : !t
  return %a : !m1
}
