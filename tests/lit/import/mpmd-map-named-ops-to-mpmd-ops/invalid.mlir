// RUN: mpmd-opt %s -split-input-file -mpmd-map-named-ops-to-mpmd-ops='assignment=f@m1,lost@m3' -verify-diagnostics

func.func @without_assignment(%x: tensor<8xf32>) -> tensor<8xf32>
    attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>} {
  // expected-error @+1 {{Top-level NamedComputation 'one' is not assigned to a mesh in the user-defined named-to-mesh assignment.}}
  %0 = mpmd.named_computation<"one"> (%x) (%a: tensor<8xf32>) {
    mpmd.return %a : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  // expected-error @+1 {{Top-level NamedComputation 'two' is not assigned to a mesh in the user-defined named-to-mesh assignment.}}
  %1 = mpmd.named_computation<"two"> (%0) (%a: tensor<8xf32>) {
    mpmd.return %a : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

func.func @unknown_mesh(%x: tensor<8xf32>) -> tensor<8xf32>
    attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>} {
  // expected-error @+1 {{Topology doesn't have a mesh with name: m3; it has: m1, m2}}
  %0 = mpmd.named_tensor %x name="lost" : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @in_loop(%x: tensor<8xf32>) -> tensor<8xf32>
    attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>} {
  // expected-note @+1 {{stablehlo.while is here}}
  %0 = stablehlo.while(%a = %x) : tensor<8xf32>
  cond {
    %1 = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    // expected-error @+1 {{label 'f' stands in stablehlo.while, where it cannot become a fragment: a label must be at the top of an MPMD function}}
    %2 = mpmd.named_computation<"f"> (%a) (%b: tensor<8xf32>) {
      mpmd.return %b : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    stablehlo.return %2 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}
