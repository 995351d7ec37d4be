// RUN: mpmd-opt %s -mpmd-infer-mesh-pipeline='infer-transfers constraints=0:0' | FileCheck %s

!t = tensor<4x8xf32>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>, <"m3": <["x"=2]>>>

// Without the tie the output would stay on the mesh of the other input.
// CHECK-LABEL: func @step
// CHECK-SAME:    (%arg0: !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>, %arg1: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>)
// CHECK-SAME:    -> (!mpmd.mesh_tensor<"m2", tensor<4x8xf32>>, !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>)
func.func @step(%w: !t, %x: !m1) -> (!t, !m2) attributes {topology = #topology} {
  %0 = mpmd.assign %w : (!t) -> !m2
  %1 = stablehlo.constant dense<1.0> : !t
  return %1, %0 : !t, !m2
}
