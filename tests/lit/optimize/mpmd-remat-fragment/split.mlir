// RUN: mpmd-opt %s -mpmd-remat-fragment | FileCheck %s
// RUN: mpmd-opt %s -mpmd-remat-fragment=merge-remat-fragments | FileCheck %s --check-prefix=MERGED

!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>>

// Both halves of the backward use what is computed again before the first one.
// CHECK-LABEL: func.func @main(
// CHECK: %[[F:.*]]:2 = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0) {call_counter = 0 : ui32} (
// CHECK: origin=["f"]> (%arg1) {call_counter = 1 : ui32} (
// CHECK: %[[AGAIN:.*]]:2 = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0) {call_counter = 0 : ui32, remat} (
// CHECK: %[[KEEP:.*]] = mpmd.fragment<mesh="m1", origin=["f"(1)]> (%[[AGAIN]]#1) {{{.*}}split_keep_transferred} (
// CHECK: %[[DROP:.*]] = mpmd.fragment<mesh="m1", origin=["f"(1)]> (%[[AGAIN]]#0, %[[KEEP]]) {{{.*}}split_drop_transferred} (
// CHECK-NOT: mpmd.fragment
// CHECK: return %[[F]]#0
// MERGED-LABEL: func.func @main(
// MERGED: %[[BOTH:.*]]:2 = mpmd.fragment<mesh="m1", origin=["f", "f"(1)]> (%arg0) {call_counter = 0 : ui32, remat} (
// MERGED: mpmd.fragment<mesh="m1", origin=["f"(1)]> (%[[BOTH]]#0, %[[BOTH]]#1) {{{.*}}split_drop_transferred} (
// MERGED-NOT: mpmd.fragment
// MERGED: return
func.func @main(%a: !m1, %b: !m1) -> (!m1, !m1, !m1) attributes {topology = #topology} {
  %f:2 = mpmd.fragment<mesh="m1", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x: tensor<4xf32>) {
    %p = stablehlo.multiply %x, %x : tensor<4xf32>
    %q = stablehlo.add %x, %x : tensor<4xf32>
    mpmd.return %p, %q : tensor<4xf32>, tensor<4xf32>
  } : (!m1) -> (!m1, !m1)
  %g = mpmd.fragment<mesh="m1", origin=["f"]> (%b) {call_counter = 1 : ui32} (%x: tensor<4xf32>) {
    mpmd.return %x : tensor<4xf32>
  } : (!m1) -> !m1
  %keep = mpmd.fragment<mesh="m1", origin=["f"(1)]> (%f#1) {call_counter = 0 : ui32, split_keep_transferred} (%x: tensor<4xf32>) {
    mpmd.return %x : tensor<4xf32>
  } : (!m1) -> !m1
  %drop = mpmd.fragment<mesh="m1", origin=["f"(1)]> (%f#0, %keep) {call_counter = 0 : ui32, split_drop_transferred} (%x: tensor<4xf32>, %y: tensor<4xf32>) {
    %r = stablehlo.multiply %x, %y : tensor<4xf32>
    mpmd.return %r : tensor<4xf32>
  } : (!m1, !m1) -> !m1
  return %f#0, %g, %drop : !m1, !m1, !m1
}
