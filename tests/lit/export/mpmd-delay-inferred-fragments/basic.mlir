// RUN: mpmd-opt %s -mpmd-delay-inferred-fragments | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>>

// A chain moves as a whole to right before its user; the returned one, before the return.
// CHECK-LABEL: func.func @chain(
// CHECK: origin=["f"]>
// CHECK: origin=["g"]>
// CHECK: %[[A:.*]] = mpmd.fragment<mesh="m0", origin=[]> (%arg0) {mpmd.inferred_by = ["a"]}
// CHECK: %[[B:.*]] = mpmd.fragment<mesh="m0", origin=[]> (%[[A]]) {mpmd.inferred_by = ["b"]}
// CHECK: origin=["h"]> (%[[B]]
// CHECK: %[[C:.*]] = mpmd.fragment<mesh="m0", origin=[]> (%arg0) {mpmd.inferred_by = ["c"]}
// CHECK: return %{{.*}}, %[[C]]
func.func @chain(%x: !m0) -> (!m0, !m0) attributes {topology = #topology} {
  %a = mpmd.fragment<mesh="m0", origin=[]> (%x) {mpmd.inferred_by = ["a"]} (%i: tensor<4xf32>) {
    mpmd.return %i : tensor<4xf32>
  } : (!m0) -> !m0
  %b = mpmd.fragment<mesh="m0", origin=[]> (%a) {mpmd.inferred_by = ["b"]} (%i: tensor<4xf32>) {
    mpmd.return %i : tensor<4xf32>
  } : (!m0) -> !m0
  %c = mpmd.fragment<mesh="m0", origin=[]> (%x) {mpmd.inferred_by = ["c"]} (%i: tensor<4xf32>) {
    mpmd.return %i : tensor<4xf32>
  } : (!m0) -> !m0
  %f = mpmd.fragment<mesh="m0", origin=["f"]> (%x) (%i: tensor<4xf32>) {
    mpmd.return %i : tensor<4xf32>
  } : (!m0) -> !m0
  %g = mpmd.fragment<mesh="m0", origin=["g"]> (%f) (%i: tensor<4xf32>) {
    mpmd.return %i : tensor<4xf32>
  } : (!m0) -> !m0
  %h = mpmd.fragment<mesh="m0", origin=["h"]> (%b, %g) (%i: tensor<4xf32>, %j: tensor<4xf32>) {
    mpmd.return %i : tensor<4xf32>
  } : (!m0, !m0) -> !m0
  return %h, %c : !m0, !m0
}

// Of several users the first one counts; transfers are users. What nothing uses stays.
// CHECK-LABEL: func.func @first_user(
// CHECK: mpmd.inferred_by = ["unused"]
// CHECK: @f(%arg0) :
// CHECK: %[[A:.*]] = mpmd.fragment_call<mesh="m0", origin=[]> @f(%arg0) {mpmd.inferred_by = ["a"]}
// CHECK-NEXT: mpmd.transfer %[[A]]
// CHECK-NEXT: @f(%[[A]])
func.func @first_user(%x: !m0) -> (!m0, !m1) attributes {topology = #topology} {
  %a = mpmd.fragment_call<mesh="m0", origin=[]> @f(%x) {mpmd.inferred_by = ["a"]} : (!m0) -> !m0
  %b = mpmd.fragment_call<mesh="m0", origin=[]> @f(%x) {mpmd.inferred_by = ["unused"]} : (!m0) -> !m0
  %f = mpmd.fragment_call<mesh="m0", origin=["f"]> @f(%x) : (!m0) -> !m0
  %t = mpmd.transfer %a : (!m0) -> !m1
  %g = mpmd.fragment_call<mesh="m0", origin=["f"]> @f(%a) : (!m0) -> !m0
  return %g, %t : !m0, !m1
}
func.func private @f(%a: tensor<4xf32>) -> tensor<4xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  return %a : tensor<4xf32>
}
