// RUN: mpmd-opt %s -mpmd-mark-fragment-reserved-memory | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>>
!rows = !mpmd.mesh_tensor<"m0", tensor<4x7xf32>, sharding=<@mesh, [{}, {"x"}]>>
!bits = !mpmd.mesh_tensor<"m0", tensor<3xi4>>
!host = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>, memory_kind="pinned_host">
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>>
sdy.mesh @mesh = <["x"=2]>

// A value of 4x8xf32 takes 128 bytes. Operands and results of the fragment itself do not count,
// arguments live for ever, other values from their maker to their last user.
// CHECK-LABEL: func.func @live(
// CHECK: origin=["f"]> (%arg0) {reserved_hbm_bytes = 0 : i64}
// CHECK: origin=["g"]> (%{{.*}}#0) {reserved_hbm_bytes = 256 : i64}
// CHECK: origin=["h"]> (%{{.*}}#1, %{{.*}}) {reserved_hbm_bytes = 128 : i64}
func.func @live(%a: !m0) -> !m0 attributes {topology = #topology} {
  %0:3 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x: tensor<4x8xf32>) {
    mpmd.return %x, %x, %x : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m0) -> (!m0, !m0, !m0)
  %1 = mpmd.fragment<mesh="m0", origin=["g"]> (%0#0) (%x: tensor<4x8xf32>) {
    mpmd.return %x : tensor<4x8xf32>
  } : (!m0) -> !m0
  %2 = mpmd.fragment<mesh="m0", origin=["h"]> (%0#1, %1) (%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) {
    mpmd.return %x : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  return %2 : !m0
}

// A donated argument is free after its last use, and one that nothing uses takes no memory.
// CHECK-LABEL: func.func @donated(
// CHECK: origin=["f"]> (%arg0) {reserved_hbm_bytes = 128 : i64}
// CHECK: origin=["g"]> (%arg1) {reserved_hbm_bytes = 128 : i64}
func.func @donated(%a: !m0 {jax.buffer_donor = true}, %b: !m0, %c: !m0 {jax.buffer_donor = true})
    -> (!m0, !m0) attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x: tensor<4x8xf32>) {
    mpmd.return %x : tensor<4x8xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["g"]> (%b) (%x: tensor<4x8xf32>) {
    mpmd.return %x : tensor<4x8xf32>
  } : (!m0) -> !m0
  return %0, %1 : !m0, !m0
}

// Sizes are those on one device (4x4xf32 of 4x7xf32 in two parts, 12 bits of 3xi4 in bytes); what a
// transfer brings counts on its mesh; host memory does not count.
// CHECK-LABEL: func.func @sizes(
// CHECK: origin=["f"]> (%arg3) {reserved_hbm_bytes = 66 : i64}
// CHECK: origin=["g"]> (%arg3) {reserved_hbm_bytes = 194 : i64}
// CHECK: origin=["h"]> (%arg5) {reserved_hbm_bytes = 0 : i64}
func.func @sizes(%rows: !rows, %bits: !bits, %host: !host, %a: !m0,
    %host_too: !m0 {mhlo.memory_kind = "pinned_host"}, %b: !m1) -> (!m0, !m1)
    attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x: tensor<4x8xf32>) {
    mpmd.return %x : tensor<4x8xf32>
  } : (!m0) -> !m0
  %1 = mpmd.transfer %b : (!m1) -> !m0
  %2 = mpmd.fragment<mesh="m0", origin=["g"]> (%a) (%x: tensor<4x8xf32>) {
    mpmd.return %x : tensor<4x8xf32>
  } : (!m0) -> !m0
  %3 = mpmd.fragment<mesh="m1", origin=["h"]> (%b) (%x: tensor<4x8xf32>) {
    mpmd.return %x : tensor<4x8xf32>
  } : (!m1) -> !m1
  return %1, %3 : !m0, !m1
}
