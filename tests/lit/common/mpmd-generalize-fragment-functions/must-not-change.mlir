// RUN: mpmd-opt %s -split-input-file -mpmd-generalize-fragment-functions | FileCheck %s

!m = !mpmd.mesh_tensor<"m", tensor<4xf32>>

// The second function uses one argument where the first uses two different ones, but in the other
// direction: neither is a special case of the other.
// CHECK-LABEL: func.func @neither_is_general
func.func @neither_is_general(%x: !m, %y: !m) -> (!m, !m) attributes {
    topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  // CHECK: @f(
  %0 = mpmd.fragment_call<mesh="m", origin=["f"]> @f(%x, %y) : (!m, !m) -> !m
  // CHECK: @g(
  %1 = mpmd.fragment_call<mesh="m", origin=["f"]> @g(%x, %y) : (!m, !m) -> !m
  return %0, %1 : !m, !m
}
func.func private @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  %1 = stablehlo.add %0, %y : tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @g(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  %0 = stablehlo.add %x, %y : tensor<4xf32>
  %1 = stablehlo.add %0, %y : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

!m = !mpmd.mesh_tensor<"m", tensor<4xf32>>
!n = !mpmd.mesh_tensor<"n", tensor<4xf32>>

// Meshes of another shape, and arguments split in another way, are other programs.
// CHECK-LABEL: func.func @other_shape_or_sharding
func.func @other_shape_or_sharding(%x: !m, %y: !n) -> (!m, !m, !n) attributes {
    topology = #mpmd.topology<<"m": <["x"=2]>>, <"n": <["x"=4]>>>} {
  // CHECK: @two(
  %0 = mpmd.fragment_call<mesh="m", origin=["f"]> @two(%x) : (!m) -> !m
  // CHECK: @split(
  %1 = mpmd.fragment_call<mesh="m", origin=["f"]> @split(%x) : (!m) -> !m
  // CHECK: @four(
  %2 = mpmd.fragment_call<mesh="n", origin=["f"]> @four(%y) : (!n) -> !n
  return %0, %1, %2 : !m, !m, !n
}
sdy.mesh @mesh = <["x"=2]>
func.func private @two(%x: tensor<4xf32>) -> tensor<4xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @split(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @four(%x: tensor<4xf32>) -> tensor<4xf32> attributes {mesh_shape = #sdy.mesh<["x"=4]>} {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
