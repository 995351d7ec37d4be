// RUN: mpmd-opt %s -split-input-file -mpmd-propagate-shardings | FileCheck %s

!m1_4x8 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2_4x8 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
!m2_8x4 = !mpmd.mesh_tensor<"m2", tensor<8x4xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2, "y"=2]>>, <"m2": <["x"=2, "y"=2]>>>
sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func @through_fragments_and_transfers
// CHECK: mpmd.fragment<mesh="m1", origin=["f"], in_shardings=[<@mesh, [{"x"}, {}]>], out_shardings=[<@mesh, [{"x"}, {}]>]>
// CHECK: mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
// CHECK: mpmd.fragment<mesh="m2", origin=["g"], in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{}, {"y"}]>], out_shardings=[<@mesh, [{"x"}, {"y"}]>]>
func.func @through_fragments_and_transfers(
    %arg0: !m1_4x8 {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %arg1: !m2_8x4 {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>})
    -> !mpmd.mesh_tensor<"m2", tensor<4x4xf32>> attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0) (%arg2: tensor<4x8xf32>) {
    %3 = stablehlo.tanh %arg2 : tensor<4x8xf32>
    mpmd.return %3 : tensor<4x8xf32>
  } : (!m1_4x8) -> !m1_4x8
  %1 = mpmd.transfer %0 : (!m1_4x8) -> !m2_4x8
  %2 = mpmd.fragment<mesh="m2", origin=["g"]> (%1, %arg1) (%arg2: tensor<4x8xf32>, %arg3: tensor<8x4xf32>) {
    %3 = stablehlo.dot %arg2, %arg3 : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    mpmd.return %3 : tensor<4x4xf32>
  } : (!m2_4x8, !m2_8x4) -> !mpmd.mesh_tensor<"m2", tensor<4x4xf32>>
  return %2 : !mpmd.mesh_tensor<"m2", tensor<4x4xf32>>
}

// Three rows cannot be split in two at the boundary.
// CHECK-LABEL: func @not_divisible
// CHECK: mpmd.fragment<mesh="m1", origin=["f"], in_shardings=[<@mesh, [{}, {}]>], out_shardings=[<@mesh, [{}, {}]>]>
func.func @not_divisible(%arg0: !mpmd.mesh_tensor<"m1", tensor<3x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<3x8xf32>> attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0) (%arg1: tensor<3x8xf32>) {
    %1 = sdy.sharding_constraint %arg1 <@mesh, [{"x"}, {}]> : tensor<3x8xf32>
    mpmd.return %1 : tensor<3x8xf32>
  } : (!mpmd.mesh_tensor<"m1", tensor<3x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<3x8xf32>>
  return %0 : !mpmd.mesh_tensor<"m1", tensor<3x8xf32>>
}

// -----

// Without a mesh to split over there is nothing to say.

// CHECK-LABEL: func @no_mesh
// CHECK-NEXT: mpmd.fragment<mesh="m1", origin=["f"]> (%arg0)
func.func @no_mesh(%arg0: !mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
    attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0) (%arg1: tensor<4xf32>) {
    %1 = stablehlo.tanh %arg1 : tensor<4xf32>
    mpmd.return %1 : tensor<4xf32>
  } : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
  return %0 : !mpmd.mesh_tensor<"m1", tensor<4xf32>>
}
