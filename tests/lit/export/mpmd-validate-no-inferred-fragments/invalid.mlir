// RUN: mpmd-opt %s -mpmd-validate-no-inferred-fragments -verify-diagnostics

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>

func.func @main(%a: !m0) -> (!m0, !m0, !m0) attributes {topology = #mpmd.topology<<"m0": <["x"=2]>>>} {
  // expected-error @+1 {{Inferred fragment has not been merged (inferred by a, b)}}
  %0 = mpmd.fragment<mesh="m0", origin=[]> (%a) {mpmd.inferred_by = ["a", "b"]} (%x: tensor<4xf32>) {
    mpmd.return %x : tensor<4xf32>
  } : (!m0) -> !m0
  // expected-error @+1 {{Internal error: inferred fragment missing 'mpmd.inferred_by' attribute}}
  %1 = mpmd.fragment<mesh="m0", origin=[]> (%a) (%x: tensor<4xf32>) {
    mpmd.return %x : tensor<4xf32>
  } : (!m0) -> !m0
  // expected-warning @+1 {{Inferred fragment has not been merged (inferred by uniquify)}}
  %2 = mpmd.fragment<mesh="m0", origin=[]> (%a) {mpmd.inferred_by = ["uniquify"]} (%x: tensor<4xf32>) {
    mpmd.return %x : tensor<4xf32>
  } : (!m0) -> !m0
  return %0, %1, %2 : !m0, !m0, !m0
}
