// RUN: mpmd-opt %s -mpmd-infer-mesh-pipeline=infer-transfers | FileCheck %s

!t = tensor<4x8xf32>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>, <"m3": <["x"=2]>>>

// CHECK-LABEL: func @update
// CHECK-SAME:    (%arg0: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>, %arg1: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>)
// CHECK-SAME:    -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
func.func @update(%w: !t, %g: !m1) -> !t attributes {topology = #topology} {
  // CHECK-NEXT: %[[F:.*]] = mpmd.fragment<mesh="m1", origin=[]> (%arg0, %arg1)
  // CHECK-NEXT:   %[[K:.*]] = stablehlo.constant
  // CHECK-NEXT:   stablehlo.multiply
  // CHECK-NEXT:   stablehlo.subtract
  // CHECK:      return %[[F]]
  %0 = mpmd.unassign %g : (!m1) -> !t
  %1 = stablehlo.constant dense<0.5> : !t
  %2 = stablehlo.multiply %0, %1 : !t
  %3 = stablehlo.subtract %w, %2 : !t
  return %3 : !t
}

// CHECK-LABEL: func @missing_transfer
func.func @missing_transfer(%a: !m1, %b: !m2) -> !m2 attributes {topology = #topology} {
  // CHECK: %[[F:.*]] = mpmd.fragment<mesh="m1", origin=["f"]>
  // CHECK: %[[T:.*]] = mpmd.transfer %[[F]] : {{.*}} -> !mpmd.mesh_tensor<"m2"
  // CHECK: mpmd.fragment<mesh="m2", origin=[]> (%[[T]], %arg1)
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%a) (%x: !t) {
    mpmd.return %x : !t
  } : (!m1) -> !m1
  %1 = mpmd.unassign %0 : (!m1) -> !t
  %2 = mpmd.unassign %b : (!m2) -> !t
  %3 = stablehlo.subtract %1, %2 : !t
  %4 = mpmd.assign %3 : (!t) -> !m2
  return %4 : !m2
}

// CHECK-LABEL: func @cross_mesh_sum
func.func @cross_mesh_sum(%a: !m1, %b: !m2) -> !m3 attributes {topology = #topology} {
  // CHECK-NEXT: %[[A:.*]] = mpmd.transfer %arg0 : {{.*}} -> !mpmd.mesh_tensor<"m3"
  // CHECK-NEXT: %[[B:.*]] = mpmd.transfer %arg1 : {{.*}} -> !mpmd.mesh_tensor<"m3"
  // CHECK-NEXT: mpmd.fragment<mesh="m3", origin=[]> (%[[A]], %[[B]])
  // CHECK-NEXT:   stablehlo.add
  %0 = mpmd.unassign %a : (!m1) -> !t
  %1 = mpmd.unassign %b : (!m2) -> !t
  %2 = stablehlo.add %0, %1 : !t
  %3 = mpmd.assign %2 : (!t) -> !m3
  return %3 : !m3
}
