// RUN: mpmd-opt %s -mpmd-infer-mesh-populate-use-set -mpmd-infer-mesh-rewrite-using-analysis | FileCheck %s

!t = tensor<4x8xf32>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>, <"m3": <["x"=2]>>>

// Computations that only others use become part of them.
// CHECK-LABEL: func @chain
func.func @chain(%a: !m1) -> !m1 attributes {topology = #topology} {
  // CHECK-NEXT: %[[U:.*]] = mpmd.unassign
  // CHECK-NEXT: %[[A:.*]] = mpmd.assign %[[U]] :
  // CHECK-NEXT: %[[F:.*]] = mpmd.fragment<mesh="m1", origin=[]> (%[[A]]) {mpmd.inferred_by = ["infer_mesh_wrap_meshless_ops"]} (%[[X:.*]]: tensor<4x8xf32>) {
  // CHECK-NEXT:   %[[S:.*]] = stablehlo.sine %[[X]] :
  // CHECK-NEXT:   %[[M:.*]] = stablehlo.multiply %[[S]], %[[S]] :
  // CHECK-NEXT:   mpmd.return %[[M]]
  // CHECK-NEXT: }
  // CHECK-NEXT: %[[R:.*]] = mpmd.unassign %[[F]]
  // CHECK-NEXT: mpmd.assign {mpmd.use_set = {{.*}}} %[[R]]
  %0 = mpmd.unassign %a : (!m1) -> !t
  %1 = stablehlo.sine %0 : !t
  %2 = stablehlo.multiply %1, %1 : !t
  %3 = mpmd.assign %2 : (!t) -> !m1
  return %3 : !m1
}

// What is needed on two meshes is done on both.
// CHECK-LABEL: func @two_meshes
func.func @two_meshes(%a: !t) -> (!m2, !m1) attributes {topology = #topology} {
  // CHECK: %[[A1:.*]] = mpmd.assign %arg0 : {{.*}} -> !mpmd.mesh_tensor<"m1"
  // CHECK: mpmd.fragment<mesh="m1", origin=[]> (%[[A1]])
  // CHECK: %[[A2:.*]] = mpmd.assign %arg0 : {{.*}} -> !mpmd.mesh_tensor<"m2"
  // CHECK: mpmd.fragment<mesh="m2", origin=[]> (%[[A2]])
  %0 = stablehlo.sine %a : !t
  %1 = mpmd.assign %0 : (!t) -> !m2
  %2 = mpmd.assign %0 : (!t) -> !m1
  return %1, %2 : !m2, !m1
}

// A result that a label uses too is computed once.
// CHECK-LABEL: func @shared
func.func @shared(%a: !m1) -> (!m1, !m1) attributes {topology = #topology} {
  // CHECK-COUNT-1: stablehlo.sine
  // CHECK-NOT:     stablehlo.sine
  // CHECK:         stablehlo.cosine
  %0 = mpmd.unassign %a : (!m1) -> !t
  %1 = stablehlo.sine %0 : !t
  %2 = mpmd.assign %1 : (!t) -> !m1
  %3 = stablehlo.cosine %1 : !t
  %4 = mpmd.assign %3 : (!t) -> !m1
  return %2, %4 : !m1, !m1
}
