// RUN: mpmd-opt %s -mpmd-lower-to-ifrt -split-input-file -verify-diagnostics

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>

func.func public @main(%a: !m0) -> !m0 attributes {topology = #mpmd.topology<<"m0": <["x"=2]>>>} {
  // expected-error @+1 {{only fragment calls and transfers can be lowered to IFRT, found mpmd.fragment}}
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x: tensor<4xf32>) {
    mpmd.return %x : tensor<4xf32>
  } : (!m0) -> !m0
  return %0 : !m0
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>
!partial = !mpmd.mesh_tensor<"m0", tensor<4xf32>, sharding=<@mesh, [{"y"}], unreduced={"x"}>>

// expected-error @+1 {{value is a partial sum along "x" of mesh "m0"; only finished sums can leave a fragment}}
func.func public @main(%a: !partial) -> !partial attributes {topology = #mpmd.topology<<"m0": <["x"=2, "y"=2]>>>} {
  return %a : !partial
}

// -----

// expected-error @+1 {{value of type 'tensor<4xf32>' has no mesh}}
func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> attributes {topology = #mpmd.topology<<"m0": <["x"=2]>>>} {
  return %a : tensor<4xf32>
}

// -----

// expected-error-re @below {{expected one public function with a topology, found 0}}
module {
  func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    return %a : tensor<4xf32>
  }
}
