// RUN: mpmd-opt %s -mpmd-mark-offloaded-input-output | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>>

// What a fragment puts into host memory, and what comes from there, is marked; attributes stay.
// CHECK-LABEL: func.func @offloaded(
// CHECK: origin=["f"]> (%arg0)
// CHECK-SAME: arg_attrs = [{mhlo.memory_kind = "pinned_host"}]
// CHECK-SAME: res_attrs = [{mhlo.memory_kind = "pinned_host"}, {jax.note}, {}]
// CHECK: origin=["g"]>
// CHECK-SAME: arg_attrs = [{mhlo.memory_kind = "pinned_host"}, {}]
// CHECK-SAME: res_attrs = [{}]
func.func @offloaded(%a: !m0 {mhlo.memory_kind = "pinned_host"})
    -> (!m0 {mhlo.memory_kind = "pinned_host"}, !m0 {mhlo.memory_kind = "device"})
    attributes {topology = #topology} {
  %0:3 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {res_attrs = [{}, {jax.note}, {}]} (%x: tensor<4x8xf32>) {
    %2 = stablehlo.custom_call @annotate_device_placement(%x)
      {mhlo.frontend_attributes = {_xla_buffer_placement = "pinned_host"}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %3 = stablehlo.custom_call @annotate_device_placement(%x)
      {mhlo.frontend_attributes = {_xla_buffer_placement = "device"}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %4 = stablehlo.custom_call @something_else(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    mpmd.return %2, %3, %4 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m0) -> (!m0, !m0, !m0)
  %1 = mpmd.fragment<mesh="m0", origin=["g"]> (%0#0, %0#2) (%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) {
    mpmd.return %x : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  return %0#0, %1 : !m0, !m0
}

// CHECK-LABEL: func.func @calls(
// CHECK: @offload(%arg0) {arg_attrs = [{}], res_attrs = [{mhlo.memory_kind = "pinned_host"}]}
// CHECK: @offload(%{{.*}}) {arg_attrs = [{mhlo.memory_kind = "pinned_host"}], res_attrs = [{mhlo.memory_kind = "pinned_host"}]}
func.func @calls(%a: !m0) -> (!m0 {mhlo.memory_kind = "pinned_host"}) attributes {topology = #topology} {
  %0 = mpmd.fragment_call<mesh="m0", origin=["f"]> @offload(%a) : (!m0) -> !m0
  %1 = mpmd.fragment_call<mesh="m0", origin=["f"]> @offload(%0) : (!m0) -> !m0
  return %1 : !m0
}
func.func private @offload(%a: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  %0 = stablehlo.custom_call @annotate_device_placement(%a)
    {mhlo.frontend_attributes = {_xla_buffer_placement = "pinned_host"}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @returned_argument(
// CHECK-NEXT: return %arg0
func.func @returned_argument(%a: !m0 {mhlo.memory_kind = "pinned_host"})
    -> (!m0 {mhlo.memory_kind = "pinned_host"}) attributes {topology = #topology} {
  return %a : !m0
}
