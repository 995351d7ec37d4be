// RUN: mpmd-opt %s -mpmd-infer-mesh-finalize | FileCheck %s

!t = tensor<4x8xf32>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>, <"m3": <["x"=2]>>>

// What is on one mesh is combined there, and sent once.
// CHECK-LABEL: func @reduce
func.func @reduce(%a: !m2, %b: !m1, %c: !m2) -> !m1 attributes {topology = #topology} {
  // CHECK-NEXT: %[[L:.*]] = mpmd.fragment<mesh="m2", origin=[]> (%arg0, %arg2) {mpmd.inferred_by = ["infer_mesh_convert_reduce_ops"]}
  // CHECK-NEXT:   stablehlo.maximum
  // CHECK:      %[[T:.*]] = mpmd.transfer %[[L]] : {{.*}} -> !mpmd.mesh_tensor<"m1"
  // CHECK-NEXT: %[[R:.*]] = mpmd.fragment<mesh="m1", origin=[]> (%arg1, %[[T]])
  // CHECK-NEXT:   stablehlo.maximum
  // CHECK:      return %[[R]]
  %0 = mpmd.unassign %a : (!m2) -> !t
  %1 = mpmd.unassign %b : (!m1) -> !t
  %2 = mpmd.unassign %c : (!m2) -> !t
  %3 = mpmd.reduce<max> %0, %1, %2 : (!t, !t, !t) -> !t
  %4 = mpmd.assign %3 : (!t) -> !m1
  return %4 : !m1
}

// CHECK-LABEL: func @broadcast
// CHECK-NEXT:    %[[T2:.*]] = mpmd.transfer %arg0 : {{.*}} -> !mpmd.mesh_tensor<"m2"
// CHECK-NEXT:    %[[T3:.*]] = mpmd.transfer %[[T2]] : {{.*}} -> !mpmd.mesh_tensor<"m3"
// CHECK-NEXT:    return %arg0, %[[T2]], %[[T3]]
func.func @broadcast(%a: !m1) -> (!m1, !m2, !m3) attributes {topology = #topology} {
  %0 = mpmd.unassign %a : (!m1) -> !t
  %1 = mpmd.broadcast %0 : !t
  %2 = mpmd.assign %1 : (!t) -> !m1
  %3 = mpmd.assign %1 : (!t) -> !m2
  %4 = mpmd.assign %1 : (!t) -> !m3
  return %2, %3, %4 : !m1, !m2, !m3
}
