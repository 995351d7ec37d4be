// RUN: mpmd-opt %s -mpmd-infer-mesh-populate-use-set -mpmd-infer-mesh-rewrite-using-analysis | FileCheck %s

!t = tensor<4x8xf32>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>, <"m3": <["x"=2]>>>

// CHECK-LABEL: func @main
func.func @main(%a: !t) -> (!m1, !m2) attributes {topology = #topology} {
  // CHECK-NEXT: %[[A1:.*]] = mpmd.assign %arg0 : {{.*}} -> !mpmd.mesh_tensor<"m1"
  // CHECK-NEXT: %[[A2:.*]] = mpmd.assign %arg0 : {{.*}} -> !mpmd.mesh_tensor<"m2"
  // CHECK-NEXT: %[[C:.*]]:2 = mpmd.call @f(%[[A1]], %[[A2]]) {call_counter = 0 : ui32}
  // CHECK-NEXT: %[[U2:.*]] = mpmd.unassign %[[C]]#0
  // CHECK-NEXT: %[[U1:.*]] = mpmd.unassign %[[C]]#1
  // CHECK-NEXT: mpmd.assign {{.*}} %[[U1]] : {{.*}} -> !mpmd.mesh_tensor<"m1"
  // CHECK-NEXT: mpmd.assign {{.*}} %[[U2]] : {{.*}} -> !mpmd.mesh_tensor<"m2"
  %0 = mpmd.call @f(%a) {call_counter = 0 : ui32} : (!t) -> !t
  %1 = mpmd.assign %0 : (!t) -> !m1
  %2 = mpmd.assign %0 : (!t) -> !m2
  return %1, %2 : !m1, !m2
}

// CHECK-LABEL: func private @f
// CHECK-SAME:    (%arg0: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>> {mpmd.copies = array<i64: 1>
// CHECK-SAME:     %arg1: !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>)
// CHECK-SAME:    -> (!mpmd.mesh_tensor<"m2", tensor<4x8xf32>> {mpmd.copies = array<i64: 1>
// CHECK-SAME:        !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>)
func.func private @f(%a: !t) -> !t attributes {topology = #topology} {
  // CHECK: mpmd.fragment<mesh="m1"
  // CHECK: mpmd.fragment<mesh="m2"
  %0 = stablehlo.sine %a : !t
  return %0 : !t
}
