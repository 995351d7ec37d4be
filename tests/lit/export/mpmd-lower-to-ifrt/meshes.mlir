// RUN: mpmd-opt %s -split-input-file -mpmd-lower-to-ifrt | FileCheck %s

// Shards lie on the devices in the order of the axes of the mesh, listed minor to major.
// CHECK-DAG: #[[SP:.*]] = #ifrt.sharding_param<2x3 to [0] on 6>
// CHECK-DAG: #[[SWAPPED:.*]] = #ifrt.sharding_param<3x2 to [1, 0] on 3x2>
// CHECK-DAG: #[[COPIES:.*]] = #ifrt.sharding_param<1x1 to [0] on 6>
// CHECK-LABEL: func.func public @axes(

!in_order = !mpmd.mesh_tensor<"m0", tensor<6x6xf32>, sharding=<@mesh, [{"x"}, {"y"}]>>
!swapped = !mpmd.mesh_tensor<"m0", tensor<6x6xf32>, sharding=<@mesh, [{"y"}, {"x"}]>>
!copies = !mpmd.mesh_tensor<"m0", tensor<6x6xf32>>
sdy.mesh @mesh = <["x"=2, "y"=3]>
func.func public @axes(%a: !in_order, %b: !swapped, %c: !copies) -> !copies
    attributes {topology = #mpmd.topology<<"m0": <["x"=2, "y"=3]>>>} {
  return %c : !copies
}

// -----

// A mesh is called the same in all modules, and numbers its devices in order: the call has the
// devices in the order of the topology.
!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>, sharding=<@mesh_a, [{"x"}]>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>, sharding=<@mesh_b, [{"x"}]>>
sdy.mesh @mesh_a = <["x"=2], device_ids=[1, 0]>
sdy.mesh @mesh_b = <["x"=2]>

// CHECK-LABEL: func.func public @names(
// CHECK: ifrt.Call @p0_f.main::@main(%arg0) on devices [1, 0]
// CHECK: ifrt.Call @p1_f.main::@main(%arg1) on devices [2, 3]
// CHECK: module @p0_f.main
// CHECK-NEXT: sdy.mesh @mesh = <["x"=2]>
// CHECK-NEXT: func.func @main(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
// CHECK-NEXT: sdy.sharding_constraint %arg0 <@mesh, [{"x"}]>
// CHECK: module @p1_f.main
// CHECK-NEXT: sdy.mesh @mesh = <["x"=2]>
// CHECK-NEXT: func.func @main(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
// CHECK-NEXT: sdy.sharding_constraint %arg0 <@mesh, [{"x"}]>
func.func public @names(%a: !m0, %b: !m1) -> (!m0, !m1)
    attributes {topology = #mpmd.topology<<"m0": <["x"=2], device_ids=[1, 0]>>, <"m1": <["x"=2]>>>} {
  %0 = mpmd.fragment_call<mesh="m0", origin=["f"]> @p0_f.main(%a) : (!m0) -> !m0
  %1 = mpmd.fragment_call<mesh="m1", origin=["f"]> @p1_f.main(%b) : (!m1) -> !m1
  return %0, %1 : !m0, !m1
}
func.func @p0_f.main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh_a, [{"x"}]>}) -> tensor<4xf32>
    attributes {mesh_shape = #sdy.mesh<["x"=2], device_ids=[1, 0]>} {
  %0 = sdy.sharding_constraint %x <@mesh_a, [{"x"}]> : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @p1_f.main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh_b, [{"x"}]>}) -> tensor<4xf32>
    attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  %0 = sdy.sharding_constraint %x <@mesh_b, [{"x"}]> : tensor<4xf32>
  return %0 : tensor<4xf32>
}
