// RUN: mpmd-opt %s -mpmd-separate-repeated-operands | FileCheck %s

!m = !mpmd.mesh_tensor<"m", tensor<4xf32>>

// CHECK-LABEL: func.func @one_user_takes_it_twice
// CHECK-SAME: (%[[X:.*]]: !mpmd
func.func @one_user_takes_it_twice(%x: !m) -> (!m, !m) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  // CHECK-NEXT: %[[Z:.*]]:2 = mpmd.fragment_call<mesh="m", origin=[]> @zeros_0(
  %0 = mpmd.fragment_call<mesh="m", origin=[]> @zeros(%x) : (!m) -> !m
  // CHECK-NEXT: mpmd.fragment_call<mesh="m", origin=["f"]> @add(%[[X]], %[[Z]]#0, %[[Z]]#1)
  %1:2 = mpmd.fragment_call<mesh="m", origin=["f"]> @add(%x, %0, %0) : (!m, !m, !m) -> (!m, !m)
  return %1#0, %1#1 : !m, !m
}

// CHECK-LABEL: func.func @two_users_or_calls
func.func @two_users_or_calls(%x: !m) -> (!m, !m, !m) attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  // The result has another user: nobody could consume it anyway.
  // CHECK: %[[A:.*]] = mpmd.fragment_call<mesh="m", origin=["a"]> @once(
  %0 = mpmd.fragment_call<mesh="m", origin=["a"]> @once(%x) : (!m) -> !m
  // CHECK: @add(%{{.*}}, %[[A]], %[[A]])
  %1:2 = mpmd.fragment_call<mesh="m", origin=["f"]> @add(%x, %0, %0) : (!m, !m, !m) -> (!m, !m)
  // The function is called twice: a variant of it would be one more program.
  // CHECK: %[[B:.*]] = mpmd.fragment_call<mesh="m", origin=["b"]> @shared(
  %2 = mpmd.fragment_call<mesh="m", origin=["b"]> @shared(%1#0) : (!m) -> !m
  %3 = mpmd.fragment_call<mesh="m", origin=["b"]> @shared(%1#1) : (!m) -> !m
  // CHECK: @add(%{{.*}}, %[[B]], %[[B]])
  %4:2 = mpmd.fragment_call<mesh="m", origin=["f"]> @add(%3, %2, %2) : (!m, !m, !m) -> (!m, !m)
  return %0, %4#0, %4#1 : !m, !m, !m
}

// CHECK: func.func private @zeros_0
// CHECK: return %[[C:.*]], %[[C]]
func.func private @zeros(%x: tensor<4xf32>) -> tensor<4xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  %0 = stablehlo.subtract %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @once(%x: tensor<4xf32>) -> tensor<4xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  %0 = stablehlo.sine %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @shared(%x: tensor<4xf32>) -> tensor<4xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  %0 = stablehlo.cosine %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @add(%x: tensor<4xf32>, %s: tensor<4xf32>, %t: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  %0 = stablehlo.add %s, %x : tensor<4xf32>
  %1 = stablehlo.multiply %x, %t : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
