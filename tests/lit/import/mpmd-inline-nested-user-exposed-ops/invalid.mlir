// RUN: mpmd-opt %s -split-input-file -mpmd-inline-nested-user-exposed-ops='assignment=f@m1,g@m2,s@m1/1' -verify-diagnostics

func.func @other_mesh(%x: tensor<8xf32>) -> tensor<8xf32>
    attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>} {
  %0 = mpmd.named_computation<"f"> (%x) (%a: tensor<8xf32>) {
    // expected-error @+1 {{NamedComputation 'g' is nested in a NamedComputation 'f' which has a different mesh or stage assignment.}}
    %1 = mpmd.named_computation<"g"> (%a) (%b: tensor<8xf32>) {
      mpmd.return %b : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    // expected-error @+1 {{NamedTensor 'g' is nested in a NamedComputation 'f' which has a different mesh assignment.}}
    %2 = mpmd.named_tensor %1 name="g" : tensor<8xf32>
    mpmd.return %2 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @other_stage(%x: tensor<8xf32>) -> tensor<8xf32>
    attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>} {
  %0 = mpmd.named_computation<"f"> (%x) (%a: tensor<8xf32>) {
    // expected-error @+1 {{NamedComputation 's' is nested in a NamedComputation 'f' which has a different mesh or stage assignment.}}
    %1 = mpmd.named_computation<"s"> (%a) (%b: tensor<8xf32>) {
      mpmd.return %b : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    mpmd.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @outer_without_assignment(%x: tensor<8xf32>) -> tensor<8xf32>
    attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>} {
  // expected-error @+1 {{Parent NamedComputation 'unknown' is not assigned to a mesh in the user-defined name-to-mesh assignment.}}
  %0 = mpmd.named_computation<"unknown"> (%x) (%a: tensor<8xf32>) {
    %1 = mpmd.named_tensor %a name="f" : tensor<8xf32>
    mpmd.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
