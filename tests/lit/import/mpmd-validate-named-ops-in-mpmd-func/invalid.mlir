// RUN: mpmd-opt %s -mpmd-validate-named-ops-in-mpmd-func -verify-diagnostics

func.func private @no_topology(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{Named computations can only be nested in mpmd functions or mpmd ops.}}
  %0 = mpmd.named_computation<"f"> (%x) (%a: tensor<8xf32>) {
    mpmd.return %a : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  // expected-error @+1 {{Named tensors can only be nested in mpmd functions or mpmd ops.}}
  %1 = mpmd.named_tensor %0 name="f" : tensor<8xf32>
  return %1 : tensor<8xf32>
}

func.func @in_while(%x: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  %0 = stablehlo.while(%a = %x) : tensor<8xf32>
  cond {
    %1 = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    // expected-error @+1 {{Named tensors can only be nested in mpmd functions or mpmd ops.}}
    %2 = mpmd.named_tensor %a name="f" : tensor<8xf32>
    stablehlo.return %2 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}
