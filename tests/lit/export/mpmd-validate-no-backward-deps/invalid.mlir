// RUN: mpmd-opt %s -mpmd-validate-no-backward-deps='fail-on-backward-deps=true' -split-input-file -verify-diagnostics

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
!m10 = !mpmd.mesh_tensor<"m10", tensor<4xf32>>

func.func @main(%a: !m2) -> (!m10, !m1) attributes
    {topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>, <"m10": <["x"=2]>>>} {
  %0 = mpmd.fragment_call<mesh="m2", origin=["f"]> @f(%a) : (!m2) -> !m2
  %1 = mpmd.transfer %0 : (!m2) -> !m10
  %2 = mpmd.fragment_call<mesh="m10", origin=["g"]> @f(%1) : (!m10) -> !m10
  %3 = mpmd.transfer %1 : (!m10) -> !m1
  // expected-error @+1 {{Detected backward dependency but expected forward-only pipeline since there are no transpose fragments: fragment "f" mesh="m2" produces a value consumed by fragment "f" mesh="m1". In a forward-only pipeline, dependencies must go from earlier meshes to later meshes.}}
  %4 = mpmd.fragment_call<mesh="m1", origin=["h"]> @f(%3) : (!m1) -> !m1
  return %2, %4 : !m10, !m1
}
func.func private @f(%a: tensor<4xf32>) -> tensor<4xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  return %a : tensor<4xf32>
}

// -----

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>

// expected-error @+1 {{Expected forward-only program but found non-forward fragments.}}
func.func @main(%a: !m0) -> !m0 attributes {topology = #mpmd.topology<<"m0": <["x"=2]>>>} {
  %0 = mpmd.fragment_call<mesh="m0", origin=["f"(1)]> @f(%a) : (!m0) -> !m0
  return %0 : !m0
}
func.func private @f(%a: tensor<4xf32>) -> tensor<4xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  return %a : tensor<4xf32>
}
