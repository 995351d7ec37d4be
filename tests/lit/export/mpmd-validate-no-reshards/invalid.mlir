// RUN: mpmd-opt %s -mpmd-validate-no-reshards='fail-on-reshard-only-fragments=true' -verify-diagnostics

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>>
!rows = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>>
sdy.mesh @mesh = <["x"=2]>

func.func @main(%a: !m0 loc("batch")) -> (!rows, !m0, !m0) attributes {topology = #mpmd.topology<<"m0": <["x"=2]>>>} {
  // expected-error @+1 {{Detected reshard-only fragment 'reshard'. This usually indicates an unexpected reshard. Operands: Replicated <4x8xf32> loc("batch"). Results: #sdy.sharding<@mesh, [{"x"}, {}]> <4x8xf32>}}
  %0 = mpmd.fragment_call<mesh="m0", origin=[]> @reshard(%a) : (!m0) -> !rows
  // expected-error @+1 {{reshard-only fragment 'reshard' is not an inferred fragment}}
  %1 = mpmd.fragment_call<mesh="m0", origin=["f"]> @reshard(%a) : (!m0) -> !m0
  %2 = mpmd.fragment_call<mesh="m0", origin=["f"]> @compute(%a) : (!m0) -> !m0
  return %0, %1, %2 : !rows, !m0, !m0
}
func.func @reshard(%a: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  return %a : tensor<4x8xf32>
}
func.func @compute(%a: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  %0 = stablehlo.negate %a : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
