// RUN: mpmd-opt %s -split-input-file -mpmd-extract-reshards-from-inter-mesh-transfers | FileCheck %s

// Between meshes of different shapes a transfer has to reshard anyway.

!m1_4x8 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2_4x8 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
sdy.mesh @m1 = <["x"=4]>
sdy.mesh @m2 = <["x"=2]>

// CHECK-LABEL: func @different_shapes
// CHECK-NEXT: mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@m2, [{}, {"x"}]>]>} %arg0
// CHECK-NEXT: return
func.func @different_shapes(%arg0: !m1_4x8 {sdy.sharding = #sdy.sharding<@m1, [{"x"}, {}]>}) -> !m2_4x8
    attributes {topology = #mpmd.topology<<"m1": <["x"=4]>>, <"m2": <["x"=2]>>>} {
  %0 = mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@m2, [{}, {"x"}]>]>} %arg0 : (!m1_4x8) -> !m2_4x8
  return %0 : !m2_4x8
}

// -----

// Meshes of one shape with a name each: what crosses takes the name of the other mesh.

!m1_4x8 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2_4x8 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
sdy.mesh @m1 = <["x"=2]>
sdy.mesh @m2 = <["x"=2]>

// CHECK-LABEL: func @one_shape_two_names
// CHECK: mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@m2, [{"x"}, {}]>]>} %arg0
// CHECK-NEXT: mpmd.fragment<mesh="m2", origin=[], out_shardings=[<@m2, [{}, {"x"}]>]>
func.func @one_shape_two_names(%arg0: !m1_4x8 {sdy.sharding = #sdy.sharding<@m1, [{"x"}, {}]>}) -> !m2_4x8
    attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>} {
  %0 = mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@m2, [{}, {"x"}]>]>} %arg0 : (!m1_4x8) -> !m2_4x8
  return %0 : !m2_4x8
}
