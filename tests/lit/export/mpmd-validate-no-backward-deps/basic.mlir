// RUN: mpmd-opt %s -mpmd-validate-no-backward-deps -verify-diagnostics | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>>

// CHECK-LABEL: func.func @backwards(
func.func @backwards(%a: !m1) -> !m0 attributes {topology = #topology} {
  %0 = mpmd.fragment_call<mesh="m1", origin=["f"]> @f(%a) : (!m1) -> !m1
  %1 = mpmd.transfer %0 : (!m1) -> !m0
  // expected-warning @+1 {{Detected backward dependency}}
  %2 = mpmd.fragment_call<mesh="m0", origin=["g"]> @f(%1) : (!m0) -> !m0
  return %2 : !m0
}

// With backward fragments, data moves both ways.
// CHECK-LABEL: func.func @training(
func.func @training(%a: !m1) -> !m0 attributes {topology = #topology} {
  %0 = mpmd.fragment_call<mesh="m1", origin=["f"]> @f(%a) : (!m1) -> !m1
  %1 = mpmd.transfer %0 : (!m1) -> !m0
  %2 = mpmd.fragment_call<mesh="m0", origin=["g"(1)]> @f(%1) : (!m0) -> !m0
  return %2 : !m0
}
func.func private @f(%a: tensor<4xf32>) -> tensor<4xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  return %a : tensor<4xf32>
}
