// RUN: mpmd-opt %s -mpmd-infer-mesh-finalize | FileCheck %s

!t = tensor<4xf32>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>

// The value is brought everywhere where the first of its users is.
// CHECK-LABEL: func public @first_user
// CHECK-SAME:    %[[A:.*]]: !mpmd.mesh_tensor<"m1"
func.func public @first_user(%a: !m1) -> (!m1, !m1, !m2) attributes {topology = #topology} {
  // CHECK-NEXT: %[[F:.*]] = mpmd.fragment<mesh="m1", origin=["f"]> (%[[A]])
  // CHECK:      %[[T:.*]] = mpmd.transfer %[[A]]
  // CHECK-NEXT: mpmd.fragment<mesh="m1", origin=["g"]> (%[[F]])
  // CHECK:      return %[[A]], %{{.*}}, %[[T]]
  %0 = mpmd.unassign %a : (!m1) -> !t
  %1 = mpmd.broadcast %0 : !t
  %2 = mpmd.fragment<mesh="m1", origin=["f"]> (%a) (%x: !t) {
    mpmd.return %x : !t
  } : (!m1) -> !m1
  %3 = mpmd.assign %1 : (!t) -> !m1
  %4 = mpmd.fragment<mesh="m1", origin=["g"]> (%2) (%x: !t) {
    mpmd.return %x : !t
  } : (!m1) -> !m1
  %5 = mpmd.assign %1 : (!t) -> !m2
  return %3, %4, %5 : !m1, !m1, !m2
}

// CHECK-LABEL: func public @assigned_for_nothing
// CHECK-SAME:    %{{.*}}: !mpmd.mesh_tensor<"m2", tensor<4xf32>>)
func.func public @assigned_for_nothing(%a: !t) attributes {topology = #topology} {
  // CHECK-NEXT: return
  %0 = mpmd.assign %a : (!t) -> !m2
  return
}
