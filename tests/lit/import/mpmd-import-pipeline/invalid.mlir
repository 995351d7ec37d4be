// RUN: mpmd-opt %s -split-input-file -mpmd-import-pipeline='name-to-mesh-assignment=f@m1' -verify-diagnostics

func.func public @without_assignment(%x: tensor<8xf32>) -> tensor<8xf32>
    attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>} {
  // expected-error @+1 {{Top-level NamedComputation 'g' is not assigned to a mesh in the user-defined named-to-mesh assignment.}}
  %0 = mpmd.named_computation<"g"> (%x) (%a: tensor<8xf32>) {
    %1 = stablehlo.negate %a : tensor<8xf32>
    mpmd.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func public @label_in_loop(%x: tensor<8xf32>, %n: tensor<i32>) -> tensor<8xf32>
    attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>} {
  // expected-note @+1 {{stablehlo.while is here}}
  %0:2 = stablehlo.while(%a = %x, %i = %n) : tensor<8xf32>, tensor<i32>
  cond {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    // expected-error @+2 {{Named computations can only be nested in mpmd functions or mpmd ops.}}
    // expected-error @+1 {{label 'f' stands in stablehlo.while}}
    %2 = mpmd.named_computation<"f"> (%a) (%b: tensor<8xf32>) {
      %3 = stablehlo.negate %b : tensor<8xf32>
      mpmd.return %3 : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %4 = stablehlo.subtract %i, %one : tensor<i32>
    stablehlo.return %2, %4 : tensor<8xf32>, tensor<i32>
  }
  return %0#0 : tensor<8xf32>
}
