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
