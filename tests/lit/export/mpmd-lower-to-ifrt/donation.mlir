// RUN: mpmd-opt %s -mpmd-lower-to-ifrt | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>

// What a call takes twice it cannot consume.
// CHECK-LABEL: func.func public @main(
// CHECK: %[[F:.*]]:2, %{{.*}} = ifrt.Call @p0_f.main::@main(%arg0) on devices [0, 1]
// CHECK: ifrt.Call @p1_g.main::@main(%[[F]]#0, %[[F]]#0, %[[F]]#1)
// CHECK-SAME: donated_input_indices = {{(array<i32: )?\[?}}2
// CHECK-NOT: io_aliases
func.func public @main(%a: !m0) -> !m0 attributes {topology = #mpmd.topology<<"m0": <["x"=2]>>>} {
  %0:2 = mpmd.fragment_call<mesh="m0", origin=["f"]> @p0_f.main(%a) : (!m0) -> (!m0, !m0)
  %1 = mpmd.fragment_call<mesh="m0", origin=["g"]> @p1_g.main(%0#0, %0#0, %0#1) : (!m0, !m0, !m0) -> !m0
  return %1 : !m0
}
func.func @p0_f.main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}
func.func @p1_g.main(%x: tensor<4xf32>, %y: tensor<4xf32> {tf.aliasing_output = 0 : i32},
    %z: tensor<4xf32> {jax.buffer_donor = true}) -> tensor<4xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  return %x : tensor<4xf32>
}
