// RUN: mpmd-opt %s -mpmd-sink-create-token-into-fragments | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>>

// Each token that a fragment takes is made inside; one that it returns is dropped.
// CHECK-LABEL: func.func @main(
// CHECK: %[[F:.*]] = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0) {jax.note} (%[[X:.*]]: tensor<4xf32>) {
// CHECK-NEXT: %[[T0:.*]] = stablehlo.create_token
// CHECK-NEXT: %[[T1:.*]] = stablehlo.create_token
// CHECK-NEXT: %[[CALL:.*]]:2 = stablehlo.custom_call @effect(%[[T0]], %[[X]], %[[T1]])
// CHECK-NEXT: mpmd.return %[[CALL]]#0 : tensor<4xf32>
// CHECK-NEXT: } : (!mpmd.mesh_tensor<"m0", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m0", tensor<4xf32>>
// CHECK: return %[[F]]
func.func @main(%a: !m0) -> !m0 attributes {topology = #topology} {
  %token = stablehlo.create_token : !stablehlo.token
  %0:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%token, %a, %token) {jax.note}
      (%t: !stablehlo.token, %x: tensor<4xf32>, %u: !stablehlo.token) {
    %1:2 = stablehlo.custom_call @effect(%t, %x, %u)
      : (!stablehlo.token, tensor<4xf32>, !stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
    mpmd.return %1#0, %1#1 : tensor<4xf32>, !stablehlo.token
  } : (!stablehlo.token, !m0, !stablehlo.token) -> (!m0, !stablehlo.token)
  return %0#0 : !m0
}

// CHECK-LABEL: func.func @no_tokens(
// CHECK-NEXT: mpmd.fragment<mesh="m0", origin=["f"]> (%arg0) (%arg1: tensor<4xf32>) {
// CHECK-NEXT: stablehlo.create_token
func.func @no_tokens(%a: !m0) -> !m0 attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x: tensor<4xf32>) {
    %t = stablehlo.create_token : !stablehlo.token
    %1 = stablehlo.custom_call @effect(%t, %x) : (!stablehlo.token, tensor<4xf32>) -> tensor<4xf32>
    mpmd.return %1 : tensor<4xf32>
  } : (!m0) -> !m0
  return %0 : !m0
}
