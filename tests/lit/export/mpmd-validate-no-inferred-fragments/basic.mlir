// RUN: mpmd-opt %s -mpmd-validate-no-inferred-fragments='fail-on-inferred-fragments=false' -verify-diagnostics | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>>

// CHECK-LABEL: func.func @inferred(
func.func @inferred(%a: !m0) -> (!m0, !m0) attributes {topology = #topology} {
  // expected-warning @+1 {{Inferred fragment has not been merged (inferred by a)}}
  %0 = mpmd.fragment<mesh="m0", origin=[]> (%a) {mpmd.inferred_by = ["a"]} (%x: tensor<4xf32>) {
    mpmd.return %x : tensor<4xf32>
  } : (!m0) -> !m0
  // expected-warning @+1 {{Inferred fragment has not been merged (inferred by introduce_transfers)}}
  %1 = mpmd.fragment_call<mesh="m0", origin=[]> @f(%a) {mpmd.inferred_by = ["introduce_transfers"]} : (!m0) -> !m0
  return %0, %1 : !m0, !m0
}

// CHECK-LABEL: func.func @labelled(
func.func @labelled(%a: !m0) -> !m0 attributes {topology = #topology} {
  %0 = mpmd.fragment_call<mesh="m0", origin=["f"]> @f(%a) : (!m0) -> !m0
  return %0 : !m0
}
func.func private @f(%a: tensor<4xf32>) -> tensor<4xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  return %a : tensor<4xf32>
}
