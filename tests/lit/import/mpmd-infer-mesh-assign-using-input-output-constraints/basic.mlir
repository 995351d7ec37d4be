// RUN: mpmd-opt %s -mpmd-infer-mesh-populate-use-set -mpmd-infer-mesh-populate-src-set -mpmd-infer-mesh-assign-using-input-output-constraints=constraints=0:0,1:1,2:2,3:3 | FileCheck %s

!t = tensor<4x8xf32>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>, <"m3": <["x"=2]>>>

// CHECK-LABEL: func @ties
// CHECK-SAME:    (%arg0: !mpmd.mesh_tensor<"m2", tensor<4x8xf32>> {{{.*}}}, %arg1: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
// CHECK-SAME:     %arg2: !mpmd.mesh_tensor<"m3", tensor<4x8xf32>>, %arg3: tensor<4x8xf32>)
// CHECK-SAME:    -> (!mpmd.mesh_tensor<"m2", tensor<4x8xf32>>, !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
// CHECK-SAME:        !mpmd.mesh_tensor<"m3", tensor<4x8xf32>>, tensor<4x8xf32>)
func.func @ties(%needed: !t, %tied_to_mesh: !t, %has_mesh: !m3, %free: !t) -> (!t, !m1, !t, !t) attributes {topology = #topology} {
  // CHECK-NEXT: %[[B:.*]] = mpmd.unassign {origin = "io_constraint_in"} %arg1
  // CHECK-NEXT: %[[A:.*]] = mpmd.unassign {origin = "io_constraint_in"} %arg0
  // CHECK-NEXT: stablehlo.sine %[[A]]
  %0 = stablehlo.sine %needed : !t
  %1 = mpmd.assign %0 : (!t) -> !m2
  // CHECK:      stablehlo.sine %[[B]]
  %2 = stablehlo.sine %tied_to_mesh : !t
  %3 = mpmd.assign %2 : (!t) -> !m1
  %4 = stablehlo.constant dense<1.0> : !t
  // CHECK:      %[[R0:.*]] = mpmd.assign {origin = "io_constraint_out"} %{{.*}} -> !mpmd.mesh_tensor<"m2"
  // CHECK-NEXT: %[[R2:.*]] = mpmd.assign {origin = "io_constraint_out"} %{{.*}} -> !mpmd.mesh_tensor<"m3"
  // CHECK-NEXT: return %[[R0]], %{{.*}}, %[[R2]], %arg3
  return %0, %3, %4, %free : !t, !m1, !t, !t
}
