// RUN: mpmd-opt %s -mpmd-infer-mesh-pipeline -verify-diagnostics

!t = tensor<4x8xf32>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>, <"m3": <["x"=2]>>>

func.func @missing_transfer(%a: !m1) -> !m2 attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%a) (%x: !t) {
    mpmd.return %x : !t
  } : (!m1) -> !m1
  %1 = mpmd.unassign %0 : (!m1) -> !t
  // expected-error@+1 {{Mesh assignment is not possible for op as it is used in {m2} but it can only be placed on {m1} without introducing a transfer}}
  %2 = mpmd.assign %1 : (!t) -> !m2
  return %2 : !m2
}
