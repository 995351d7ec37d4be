// RUN: mpmd-opt %s -mpmd-validate-no-param-transfers='param-pattern=params' -verify-diagnostics | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>>

// CHECK-LABEL: func.func @parameter(
func.func @parameter(%a: !m0 loc("params['w']")) -> !m1 attributes {topology = #topology} {
  // expected-warning @+1 {{Detected cross-mesh transfer of a parameter matching "params" from mesh "m0" to "m1"}}
  %0 = mpmd.transfer %a : (!m0) -> !m1
  return %0 : !m1
}

// What a fragment makes of a parameter may be transferred.
// CHECK-LABEL: func.func @made_of_a_parameter(
func.func @made_of_a_parameter(%a: !m0 loc("params['w']")) -> !m1 attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x: tensor<4xf32>) {
    mpmd.return %x : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.transfer %0 : (!m0) -> !m1
  return %1 : !m1
}
