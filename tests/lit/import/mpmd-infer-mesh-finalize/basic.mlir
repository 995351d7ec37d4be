// RUN: mpmd-opt %s -mpmd-infer-mesh-finalize=infer-transfers | FileCheck %s

!t = tensor<4x8xf32>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>, <"m3": <["x"=2]>>>

// CHECK-LABEL: func @folds
// CHECK-NEXT:    return %arg0
func.func @folds(%a: !m1) -> !m1 attributes {topology = #topology} {
  %0 = mpmd.unassign {mpmd.use_set = #mpmd.meshes_with_origins<"m1">} %a : (!m1) -> !t
  %1 = mpmd.assign %0 : (!t) -> !m1
  return %1 : !m1
}

// CHECK-LABEL: func @inputs
// CHECK-SAME:    (%arg0: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>)
// CHECK-NEXT:    %[[T:.*]] = mpmd.transfer %arg0 : {{.*}} -> !mpmd.mesh_tensor<"m2"
// CHECK-NEXT:    return %[[T]], %arg0, %[[T]]
func.func @inputs(%a: !t {mpmd.use_set = #mpmd.meshes_with_origins<"m2", "m1">}) -> (!m2, !m1, !m2) attributes {topology = #topology} {
  %0 = mpmd.assign %a : (!t) -> !m2
  %1 = mpmd.assign %a : (!t) -> !m1
  %2 = mpmd.assign %a : (!t) -> !m2
  return %0, %1, %2 : !m2, !m1, !m2
}

// CHECK-LABEL: func @passes_on
func.func @passes_on(%a: !m1) -> (!m3, !m2) attributes {topology = #topology} {
  // CHECK:      %[[F:.*]] = mpmd.fragment
  // CHECK:      %[[T2:.*]] = mpmd.transfer %[[F]] : {{.*}} -> !mpmd.mesh_tensor<"m2"
  // CHECK-NEXT: %[[T3:.*]] = mpmd.transfer %[[T2]] : {{.*}} -> !mpmd.mesh_tensor<"m3"
  // CHECK-NEXT: return %[[T3]], %[[T2]]
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%a) (%x: !t) {
    mpmd.return %x : !t
  } : (!m1) -> !m1
  %1 = mpmd.unassign %0 : (!m1) -> !t
  %2 = mpmd.assign %1 : (!t) -> !m3
  %3 = mpmd.assign %1 : (!t) -> !m2
  return %2, %3 : !m3, !m2
}

// A transfer of the program is used; then all others are from the first mesh too.
// CHECK-LABEL: func @transfer_of_the_program
// CHECK-NEXT:    %[[T:.*]] = mpmd.transfer %arg0 : {{.*}} -> !mpmd.mesh_tensor<"m2"
// CHECK-NEXT:    %[[T3:.*]] = mpmd.transfer %arg0 : {{.*}} -> !mpmd.mesh_tensor<"m3"
// CHECK-NEXT:    return %[[T]], %[[T]], %[[T3]]
func.func @transfer_of_the_program(%a: !m1) -> (!m2, !m2, !m3) attributes {topology = #topology} {
  %0 = mpmd.transfer %a : (!m1) -> !m2
  %1 = mpmd.unassign %a : (!m1) -> !t
  %2 = mpmd.assign %1 : (!t) -> !m2
  %3 = mpmd.assign %1 : (!t) -> !m3
  return %0, %2, %3 : !m2, !m2, !m3
}

// CHECK-LABEL: func @unused
// CHECK-NEXT:    return %arg0
func.func @unused(%a: !m1) -> !m1 attributes {topology = #topology} {
  %0 = mpmd.unassign %a : (!m1) -> !t
  %1 = mpmd.assign %0 : (!t) -> !m2
  return %a : !m1
}
