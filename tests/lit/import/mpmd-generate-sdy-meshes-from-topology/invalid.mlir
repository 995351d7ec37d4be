// RUN: mpmd-opt %s -split-input-file -mpmd-generate-sdy-meshes-from-topology -verify-diagnostics

sdy.mesh @mesh = <["a_x"=2, "b_x"=2]>

// expected-error @+1 {{no mesh of the topology has all the axes a_x, b_x of #sdy.sharding<@mesh, [{"a_x"}, {"b_x"}]>}}
func.func public @two_meshes(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a_x"}, {"b_x"}]>}) -> tensor<8x8xf32>
    attributes {topology = #mpmd.topology<<"a": <["a_x"=2]>>, <"b": <["b_x"=2]>>>} {
  return %x : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["c_x"=2]>

func.func public @unknown_axis(%x: tensor<8x8xf32>) -> tensor<8x8xf32>
    attributes {topology = #mpmd.topology<<"a": <["a_x"=2]>>>} {
  // expected-error @+1 {{no mesh of the topology has all the axes c_x of}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"c_x"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
