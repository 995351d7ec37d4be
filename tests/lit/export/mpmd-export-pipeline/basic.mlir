// RUN: mpmd-opt %s -mpmd-export-pipeline | FileCheck %s
// RUN: mpmd-opt %s -mpmd-outline-fragments -mpmd-export-pipeline | FileCheck %s
// RUN: mpmd-opt %s -mpmd-export-pipeline -mpmd-lower-to-ifrt | FileCheck %s --check-prefix=IFRT

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x4xf32>>

// A training step of two stages: unused values are gone, the residual and the transferred gradient
// are consumed, so are the donated weights, and memory is reserved for what waits.
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: %[[F:.*]]:2 = mpmd.fragment_call<mesh="m0", origin=["f"]> @p0_f_fwd.main(%arg2, %arg0) :
// CHECK-NEXT: %[[ACT:.*]] = mpmd.transfer %[[F]]#0
// CHECK-NEXT: %[[G:.*]]:2 = mpmd.fragment_call<mesh="m1", origin=["g", "g"(1)]> @p1_g_fwd_bwd.main(%[[ACT]], %arg1) :
// CHECK-NEXT: %[[GRAD:.*]] = mpmd.transfer %[[G]]#0
// CHECK-NEXT: %[[NEW:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"(1)]> @p2_f_bwd.main(%[[F]]#1, %[[GRAD]], %arg0) :
// CHECK-NEXT: return %[[NEW]], %[[G]]#1
// CHECK: func.func @p0_f_fwd.main(%arg0: tensor<4x4xf32>, %arg1: tensor<4x4xf32>)
// CHECK-SAME: reserved_hbm_bytes = 0 : i64
// CHECK: func.func @p1_g_fwd_bwd.main(%arg0: tensor<4x4xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<4x4xf32> {jax.buffer_donor = true})
// CHECK: func.func @p2_f_bwd.main(%arg0: tensor<4x4xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<4x4xf32> {jax.buffer_donor = true}, %arg2: tensor<4x4xf32> {jax.buffer_donor = true})
// CHECK-SAME: reserved_hbm_bytes = 64 : i64
// CHECK-NOT: func.func

// IFRT: %[[F:.*]]:2, %[[F_DONE:.*]] = ifrt.Call @p0_f_fwd.main::@main(%arg2, %arg0) on devices [0, 1]
// IFRT: ifrt.Call @p1_g_fwd_bwd.main::@main({{.*}}) on devices [2, 3]
// IFRT-SAME: donated_input_indices = {{(array<i32: )?\[?}}1
// IFRT: ifrt.Call @p2_f_bwd.main::@main({{.*}}) after %[[F_DONE]] on devices [0, 1]
// IFRT-SAME: donated_input_indices = {{(array<i32: )?\[?}}1, 2
func.func @main(%w0: !m0 {jax.buffer_donor = true}, %w1: !m1 {jax.buffer_donor = true}, %x: !m0) -> (!m0, !m1)
    attributes {topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>>} {
  %0:3 = mpmd.fragment<mesh="m0", origin=["f"]> (%x, %w0) (%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) {
    %5 = stablehlo.multiply %a, %b : tensor<4x4xf32>
    %6 = stablehlo.cosine %5 : tensor<4x4xf32>
    %7 = stablehlo.negate %6 : tensor<4x4xf32>
    mpmd.return %5, %6, %7 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  } : (!m0, !m0) -> (!m0, !m0, !m0)
  %1 = mpmd.transfer %0#0 : (!m0) -> !m1
  %2:2 = mpmd.fragment<mesh="m1", origin=["g", "g"(1)]> (%1, %w1) (%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) {
    %5 = stablehlo.multiply %a, %b : tensor<4x4xf32>
    %6 = stablehlo.subtract %b, %5 : tensor<4x4xf32>
    mpmd.return %5, %6 : tensor<4x4xf32>, tensor<4x4xf32>
  } : (!m1, !m1) -> (!m1, !m1)
  %3 = mpmd.transfer %2#0 : (!m1) -> !m0
  %4 = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%0#1, %3, %w0, %w0)
      (%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %c: tensor<4x4xf32>, %d: tensor<4x4xf32>) {
    %5 = stablehlo.multiply %a, %b : tensor<4x4xf32>
    %6 = stablehlo.multiply %5, %d : tensor<4x4xf32>
    %7 = stablehlo.subtract %c, %6 : tensor<4x4xf32>
    mpmd.return %7 : tensor<4x4xf32>
  } : (!m0, !m0, !m0, !m0) -> !m0
  return %4, %2#1 : !m0, !m1
}
