// RUN: mpmd-opt %s -mpmd-validate-no-param-transfers='fail-on-param-transfers=true param-pattern=params' -verify-diagnostics

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>>

func.func @main(%a: !m0 loc("state.params['w']"), %b: !m1 loc("params['b']"), %c: !m0 loc("batch"), %d: !m0)
    -> (!m1, !m0, !m1, !m1, !m1) attributes {topology = #topology} {
  // expected-error @+1 {{Detected cross-mesh transfer of a parameter matching "params" from mesh "m0" to "m1". JAX locations: ["state.params['w']"]}}
  %0 = mpmd.transfer %a : (!m0) -> !m1
  // expected-error @+1 {{parameter matching "params" from mesh "m1" to "m0". JAX locations: ["params['b']"]}}
  %1 = mpmd.transfer %b : (!m1) -> !m0
  %2 = mpmd.transfer %c : (!m0) -> !m1
  %3 = mpmd.transfer %d : (!m0) -> !m1
  %4 = mpmd.transfer %1 : (!m0) -> !m1
  return %0, %1, %2, %3, %4 : !m1, !m0, !m1, !m1, !m1
}
