// RUN: mpmd-opt %s -mpmd-mark-aliasing-and-donation | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>>

// CHECK-LABEL: func.func @donated(
// CHECK: origin=["f"]> (%arg0, %arg1, %arg2, %arg3)
// CHECK-SAME: {arg_attrs = [{}, {tf.aliasing_output = 0 : i32}, {}, {}]}
// CHECK: origin=["g"]> (%arg0) {arg_attrs = [{jax.buffer_donor = true}]}
func.func @donated(
    %a: !m0 {jax.buffer_donor = true}, %b: !m0 {tf.aliasing_output = 0 : i32}, %c: !m0,
    %d: !m0 {jax.buffer_donor = false}) -> (!m0, !m0) attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a, %b, %c, %d)
      (%w: tensor<4x8xf32>, %x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %z: tensor<4x8xf32>) {
    mpmd.return %w : tensor<4x8xf32>
  } : (!m0, !m0, !m0, !m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["g"]> (%a) (%w: tensor<4x8xf32>) {
    mpmd.return %w : tensor<4x8xf32>
  } : (!m0) -> !m0
  return %0, %1 : !m0, !m0
}

// A donated argument that is also returned or transferred is not consumed by a fragment.
// CHECK-LABEL: func.func @donated_but_used(
// CHECK-NOT: arg_attrs
func.func @donated_but_used(%a: !m0 {jax.buffer_donor = true}, %b: !m0 {jax.buffer_donor = true})
    -> (!m0, !m0, !m1) attributes {topology = #topology} {
  %0 = mpmd.transfer %b : (!m0) -> !m1
  %1 = mpmd.fragment<mesh="m0", origin=["f"]> (%a, %b) (%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) {
    mpmd.return %x : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  return %a, %1, %0 : !m0, !m0, !m1
}
