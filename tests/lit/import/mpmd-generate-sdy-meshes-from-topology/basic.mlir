// RUN: mpmd-opt %s -split-input-file -mpmd-generate-sdy-meshes-from-topology | FileCheck %s

// CHECK:      module {
// CHECK-NEXT:   sdy.mesh @head = <["head_x"=8]>
// CHECK-NEXT:   sdy.mesh @enc = <["enc_x"=2, "enc_y"=2]>
// CHECK-NEXT:   func.func public @every_place
module {
sdy.mesh @all = <["enc_x"=2, "enc_y"=2, "head_x"=8]>

// CHECK-SAME: sdy.sharding = #sdy.sharding<@enc, [{"enc_y", ?}, {}]>
// CHECK-SAME: -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@head, [{}, {"head_x":(1)4}]>})
func.func public @every_place(
    %x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@all, [{"enc_y", ?}, {}]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@all, [{}, {"head_x":(1)4}]>})
    attributes {topology = #mpmd.topology<<"head": <["head_x"=8]>>, <"enc": <["enc_x"=2, "enc_y"=2]>>>} {
  // CHECK: sdy.sharding_constraint %{{.*}} <@enc, [{}, {"enc_x"}]>
  %0 = mpmd.named_computation<"f"> (%x) (%a: tensor<8x8xf32>) {
    %1 = sdy.sharding_constraint %a <@all, [{}, {"enc_x"}]> : tensor<8x8xf32>
    mpmd.return %1 : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: stablehlo.add {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@head, [{"head_x"}, {}]>]>}
  %2 = stablehlo.add %0, %0 {sdy.sharding = #sdy.sharding_per_value<[<@all, [{"head_x"}, {}]>]>} : tensor<8x8xf32>
  // CHECK: in_shardings=[<@enc, [{"enc_x"}, {}]>] out_shardings=[<@enc, [{"enc_x"}, {}]>]
  %3 = sdy.manual_computation(%2) in_shardings=[<@all, [{"enc_x"}, {}]>] out_shardings=[<@all, [{"enc_x"}, {}]>]
      manual_axes={"enc_x"} (%z: tensor<4x8xf32>) {
    sdy.return %z : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}
}

// -----

// Where axes are named after meshes, a sharding without axes belongs to none of them.
// CHECK:      module {
// CHECK-NEXT:   sdy.mesh @empty_mesh = <[]>
// CHECK-NEXT:   sdy.mesh @m = <["m_x"=2]>
// CHECK-NEXT:   func.func public @replicated
// CHECK-SAME:     #sdy.sharding<@empty_mesh, [{}]>
// CHECK-SAME:     #sdy.sharding<@empty_mesh, [{?}]>
// CHECK-SAME:     topology = #mpmd.topology<<"m" : <["m_x"=2]>>, <"empty_mesh" : <[]>>>
module {
sdy.mesh @mesh = <["m_x"=2]>
func.func public @replicated(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>},
                             %y: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}]>}) -> tensor<8xf32>
    attributes {topology = #mpmd.topology<<"m": <["m_x"=2]>>>} {
  return %x : tensor<8xf32>
}
}

// -----

// Meshes may use the same axis names: the size of the present mesh tells which is meant.
// CHECK:      sdy.mesh @small = <["x"=2]>
// CHECK-NEXT: sdy.mesh @big = <["x"=4]>
// CHECK:      func.func public @same_axes
// CHECK-SAME:   %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@big, [{"x"}]>}
// CHECK-SAME:   %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@small, [{"x"}]>}
// CHECK-SAME:   %arg2: tensor<8xf32> {sdy.sharding = #sdy.sharding<@big, [{"x"}]>}
module {
sdy.mesh @mesh = <["x"=4]>
sdy.mesh @mesh_0 = <["x"=2]>
func.func public @same_axes(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
                            %y: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh_0, [{"x"}]>},
                            %z: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=4]>, [{"x"}]>}) -> tensor<8xf32>
    attributes {topology = #mpmd.topology<<"small": <["x"=2]>>, <"big": <["x"=4]>>>} {
  return %x : tensor<8xf32>
}
}

// -----

// CHECK:      sdy.mesh @small = <["x"=2]>
// CHECK-NEXT: sdy.mesh @big = <["x"=4]>
// CHECK-NEXT: func.func public @same_axes_replicated
// CHECK-SAME:   %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@big, [{}]>}
// CHECK-SAME:   topology = #mpmd.topology<<"small" : <["x"=2]>>, <"big" : <["x"=4]>>>
module {
sdy.mesh @mesh = <["x"=4]>
func.func public @same_axes_replicated(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> tensor<8xf32>
    attributes {topology = #mpmd.topology<<"small": <["x"=2]>>, <"big": <["x"=4]>>>} {
  return %x : tensor<8xf32>
}
}

// -----

// No topology, no change.
// CHECK:      sdy.mesh @mesh = <["x"=4]>
// CHECK-NEXT: func.func public @no_topology(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
module {
sdy.mesh @mesh = <["x"=4]>
func.func public @no_topology(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
}

// -----

// A callback to the host stays on the device that it names, whatever the rank of what it makes.
// CHECK:      module {
// CHECK-NEXT:   sdy.mesh @m = <["x"=2]>
// CHECK-NEXT:   sdy.mesh @maximal_mesh_0 = <[], device_ids=[0]>
// CHECK-NEXT:   func.func public @callback
module {
sdy.mesh @maximal_mesh_0 = <[], device_ids=[0]>
sdy.mesh @mesh = <["x"=2]>

func.func public @callback(%x: tensor<8x8xf32>) -> tensor<8x8xf32>
    attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  // CHECK: sdy.sharding = #sdy.sharding_per_value<[<@maximal_mesh_0, []>]>
  %0 = stablehlo.custom_call @call_python(%x) {
    has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@maximal_mesh_0, []>]>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
}
