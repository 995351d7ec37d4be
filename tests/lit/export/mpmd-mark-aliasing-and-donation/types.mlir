// RUN: mpmd-opt %s -mpmd-mark-aliasing-and-donation | FileCheck %s

!device = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>>
!host = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>, memory_kind="pinned_host">
!rows = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>>
sdy.mesh @mesh = <["x"=2]>

// Sharding and memory kind belong to the type.
// CHECK-LABEL: func.func @sharding_and_memory(
// CHECK: origin=["g"]>
// CHECK-SAME: {arg_attrs = [{tf.aliasing_output = 2 : i32}, {tf.aliasing_output = 0 : i32}, {tf.aliasing_output = 1 : i32}]}
func.func @sharding_and_memory(%a: !device) -> (!host, !rows, !device) attributes {topology = #topology} {
  %0:3 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x: tensor<4x8xf32>) {
    mpmd.return %x, %x, %x : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  } : (!device) -> (!device, !host, !rows)
  %1:3 = mpmd.fragment<mesh="m0", origin=["g"]> (%0#0, %0#1, %0#2)
      (%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %z: tensor<4x8xf32>) {
    mpmd.return %y, %z, %x : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  } : (!device, !host, !rows) -> (!host, !rows, !device)
  return %1#0, %1#1, %1#2 : !host, !rows, !device
}

// What an attribute places in host memory is left alone; a layout must agree.
// CHECK-LABEL: func.func @attributes(
// CHECK: origin=["g"]>
// CHECK-SAME: {arg_attrs = [{mhlo.memory_kind = "pinned_host"}, {jax.buffer_donor = true, mhlo.layout_mode = "{0,1}"}, {tf.aliasing_output = 0 : i32}]
func.func @attributes(%a: !device) -> !device attributes {topology = #topology} {
  %0:3 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x: tensor<4x8xf32>) {
    mpmd.return %x, %x, %x : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  } : (!device) -> (!device, !device, !device)
  %1 = mpmd.fragment<mesh="m0", origin=["g"]> (%0#0, %0#1, %0#2)
      {arg_attrs = [{mhlo.memory_kind = "pinned_host"}, {mhlo.layout_mode = "{0,1}"}, {}]}
      (%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %z: tensor<4x8xf32>) {
    mpmd.return %y : tensor<4x8xf32>
  } : (!device, !device, !device) -> !device
  return %1 : !device
}

// CHECK-LABEL: func.func @calls(
// CHECK: @f(%arg0) :
// CHECK: @f(%{{.*}}) {arg_attrs = [{tf.aliasing_output = 0 : i32}]}
func.func @calls(%a: !device) -> !device attributes {topology = #topology} {
  %0 = mpmd.fragment_call<mesh="m0", origin=["f"]> @f(%a) : (!device) -> !device
  %1 = mpmd.fragment_call<mesh="m0", origin=["f"]> @f(%0) : (!device) -> !device
  return %1 : !device
}
func.func private @f(%a: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  return %a : tensor<4x8xf32>
}
