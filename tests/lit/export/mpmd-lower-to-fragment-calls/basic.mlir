// RUN: mpmd-opt %s -split-input-file -mpmd-lower-to-fragment-calls | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>>
sdy.mesh @mesh = <["x"=2]>

// Equal fragments of a mesh share a program. What only tells calls apart is dropped.
// CHECK-LABEL: func.func @main(
// CHECK: mpmd.fragment_call<mesh="m0", origin=["f"]> @p0_f.main(%arg0) :
// CHECK: mpmd.fragment_call<mesh="m0", origin=["f"]> @p0_f.main(%{{.*}}) :
// CHECK: mpmd.fragment_call<mesh="m0", origin=["g"]> @p0_f.main(%{{.*}}) :
// CHECK: mpmd.fragment_call<mesh="m1", origin=["f"]> @p1_f.main(%arg1) :
func.func @main(%a: !m0, %b: !m1) -> (!m0, !m1) attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x: tensor<4x8xf32>) {
    %4 = stablehlo.add %x, %x : tensor<4x8xf32>
    mpmd.return %4 : tensor<4x8xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["f"]> (%0) {call_counter = 1 : ui32} (%x: tensor<4x8xf32>) {
    %4 = stablehlo.add %x, %x : tensor<4x8xf32>
    mpmd.return %4 : tensor<4x8xf32>
  } : (!m0) -> !m0
  %2 = mpmd.fragment<mesh="m0", origin=["g"], stage=1> (%1) (%x: tensor<4x8xf32>) {
    %4 = stablehlo.add %x, %x : tensor<4x8xf32>
    mpmd.return %4 : tensor<4x8xf32>
  } : (!m0) -> !m0
  %3 = mpmd.fragment<mesh="m1", origin=["f"]> (%b) (%x: tensor<4x8xf32>) {
    %4 = stablehlo.add %x, %x : tensor<4x8xf32>
    mpmd.return %4 : tensor<4x8xf32>
  } : (!m1) -> !m1
  return %2, %3 : !m0, !m1
}

// CHECK: func.func @p0_f.main(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
// CHECK-SAME: -> (tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
// CHECK-SAME: attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
// CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %arg0, %arg0
// CHECK-NEXT: return %[[SUM]]
// CHECK: func.func @p1_f.main(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> attributes
// CHECK-NOT: func.func

// -----

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>>
!host = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>, memory_kind="pinned_host">

// Different donation, layouts or memory make different programs; the memory hint does not.
// CHECK-LABEL: func.func @main(
// CHECK: @p0_f.main(
// CHECK: @p1_f.main(
// CHECK: @p2_f.main(
// CHECK: @p0_f.main(
// CHECK: @p3_f.main(
// CHECK: @p0_f.main(
// CHECK: func.func @p0_f.main(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-SAME: reserved_hbm_bytes = 15 : i64
// CHECK: func.func @p1_f.main(%arg0: tensor<4x8xf32> {jax.buffer_donor = true}) -> tensor<4x8xf32>
// CHECK-NOT: reserved_hbm_bytes
// CHECK: func.func @p2_f.main(%arg0: tensor<4x8xf32>) -> (tensor<4x8xf32> {mhlo.layout_mode = "auto"})
// CHECK: func.func @p3_f.main(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32>
func.func @main(%a: !m0, %b: !m0, %c: !host) -> (!m0, !m0, !m0, !m0, !m0, !m0)
    attributes {topology = #mpmd.topology<<"m0": <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {reserved_hbm_bytes = 15 : i64} (%x: tensor<4x8xf32>) {
    mpmd.return %x : tensor<4x8xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {arg_attrs = [{jax.buffer_donor = true}]} (%x: tensor<4x8xf32>) {
    mpmd.return %x : tensor<4x8xf32>
  } : (!m0) -> !m0
  %2 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {res_attrs = [{mhlo.layout_mode = "auto"}]} (%x: tensor<4x8xf32>) {
    mpmd.return %x : tensor<4x8xf32>
  } : (!m0) -> !m0
  %3 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {reserved_hbm_bytes = 5 : i64} (%x: tensor<4x8xf32>) {
    mpmd.return %x : tensor<4x8xf32>
  } : (!m0) -> !m0
  %4 = mpmd.fragment<mesh="m0", origin=["f"]> (%c) (%x: tensor<4x8xf32>) {
    mpmd.return %x : tensor<4x8xf32>
  } : (!host) -> !m0
  %5 = mpmd.fragment<mesh="m0", origin=["f"]> (%b) {arg_attrs = [{}]} (%x: tensor<4x8xf32>) {
    mpmd.return %x : tensor<4x8xf32>
  } : (!m0) -> !m0
  return %0, %1, %2, %3, %4, %5 : !m0, !m0, !m0, !m0, !m0, !m0
}
