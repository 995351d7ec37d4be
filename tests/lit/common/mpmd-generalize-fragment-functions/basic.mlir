// RUN: mpmd-opt %s -mpmd-generalize-fragment-functions | FileCheck %s

!m = !mpmd.mesh_tensor<"m", tensor<4xf32>>

// CHECK-LABEL: func.func @repeated_and_permuted
// CHECK-SAME: (%[[X:.*]]: !mpmd{{.*}}, %[[Z:.*]]: !mpmd{{.*}})
func.func @repeated_and_permuted(%x: !m, %z: !m) -> (!m, !m, !m) attributes {
    topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  // CHECK-NEXT: %[[A:.*]]:2 = mpmd.fragment_call<mesh="m", origin=["f"(1)]> @general(%[[X]], %[[Z]], %[[Z]]) {call_counter = 0 : ui32}
  %0:2 = mpmd.fragment_call<mesh="m", origin=["f"(1)]> @tied(%z, %x) {call_counter = 0 : ui32, arg_attrs = [{}, {}]} : (!m, !m) -> (!m, !m)
  // CHECK-NEXT: %[[B:.*]]:2 = mpmd.fragment_call<mesh="m", origin=["f"(1)]> @general(%[[X]], %[[A]]#0, %[[A]]#1)
  %1:2 = mpmd.fragment_call<mesh="m", origin=["f"(1)]> @general(%x, %0#0, %0#1) {call_counter = 1 : ui32} : (!m, !m, !m) -> (!m, !m)
  // CHECK-NEXT: mpmd.fragment_call<mesh="m", origin=["f"(1)]> @other(%[[B]]#0, %[[B]]#1)
  %2 = mpmd.fragment_call<mesh="m", origin=["f"(1)]> @other(%1#0, %1#1) : (!m, !m) -> !m
  return %1#0, %1#1, %2 : !m, !m, !m
}

// CHECK-NOT: @tied
func.func private @tied(%z: tensor<4xf32>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  %0 = stablehlo.add %z, %x : tensor<4xf32>
  %1 = stablehlo.multiply %x, %z : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK: func.func private @general
func.func private @general(%x: tensor<4xf32>, %s: tensor<4xf32>, %t: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  %0 = stablehlo.add %s, %x : tensor<4xf32>
  %1 = stablehlo.multiply %x, %t : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK: func.func private @other
func.func private @other(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  %0 = stablehlo.subtract %x, %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}
