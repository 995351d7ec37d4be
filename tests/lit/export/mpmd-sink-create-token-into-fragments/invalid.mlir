// RUN: mpmd-opt %s -mpmd-sink-create-token-into-fragments -verify-diagnostics

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>

func.func @token_leaves(%a: !m0) -> !m0 attributes {topology = #mpmd.topology<<"m0": <["x"=2]>>>} {
  %token = stablehlo.create_token : !stablehlo.token
  // expected-error @+1 {{token result #1 is used outside of the fragment}}
  %0:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%token, %a) (%t: !stablehlo.token, %x: tensor<4xf32>) {
    mpmd.return %x, %t : tensor<4xf32>, !stablehlo.token
  } : (!stablehlo.token, !m0) -> (!m0, !stablehlo.token)
  %1 = mpmd.fragment<mesh="m0", origin=["g"]> (%0#1, %0#0) (%t: !stablehlo.token, %x: tensor<4xf32>) {
    mpmd.return %x : tensor<4xf32>
  } : (!stablehlo.token, !m0) -> !m0
  return %1 : !m0
}
