// RUN: mpmd-opt %s -mpmd-lower-to-ifrt | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>>
!m1_columns = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{}, {"x"}]>>

// Device ids count through the topology, calls on a mesh are chained, donation follows the function,
// a transfer that changes the sharding reshards.
// CHECK: #[[ROWS:.*]] = #ifrt.sharding_param<2x1 to [0] on 2>
// CHECK: #[[COLUMNS:.*]] = #ifrt.sharding_param<1x2 to [0] on 2>
// CHECK: module @step
module @step {
  sdy.mesh @mesh = <["x"=2]>

  // CHECK: func.func public @main(
  // CHECK-SAME: %arg0: !ifrt.array<tensor<4x8xf32>, #[[ROWS]], [0, 1]> {ifrt.donated}
  // CHECK-SAME: %arg1: !ifrt.array<tensor<4x8xf32>, #[[ROWS]], [2, 3]>)
  // CHECK-SAME: -> (!ifrt.array<tensor<4x8xf32>, #[[COLUMNS]], [2, 3]> {jax.result_info = "loss"}, !ifrt.array<tensor<4x8xf32>, #[[ROWS]], [2, 3]>)
  // CHECK-SAME: attributes {ifrt.function}
  // CHECK-NEXT: %[[F:.*]], %[[F_DONE:.*]] = ifrt.Call @p0_f.step::@main(%arg0) on devices [0, 1]
  // CHECK-SAME: donated_input_indices = {{(array<i32: )?\[?}}0
  // CHECK-SAME: ifrt.mesh_name = "m0"
  // CHECK-NEXT: %[[G:.*]], %{{.*}} = ifrt.Call @p1_g.step::@main(%[[F]]) after %[[F_DONE]] on devices [0, 1]
  // CHECK-SAME: io_aliases = [array<i32: 0, 0>]
  // CHECK-NEXT: %[[COPY:.*]], %{{.*}} = ifrt.CopyArrays(%[[G]])
  // CHECK-NEXT: %[[H:.*]], %{{.*}} = ifrt.Call @p2_h.step::@main(%[[COPY]], %arg1) on devices [2, 3]
  // CHECK-NEXT: %[[RESHARDED:.*]], %{{.*}} = ifrt.Reshard(%[[G]])
  // CHECK-NEXT: return %[[RESHARDED]], %[[H]]
  func.func public @main(%a: !m0 {jax.buffer_donor = true}, %b: !m1)
      -> (!m1_columns {jax.result_info = "loss"}, !m1)
      attributes {topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>>} {
    %0 = mpmd.fragment_call<mesh="m0", origin=["f"]> @p0_f.step(%a) : (!m0) -> !m0
    %1 = mpmd.fragment_call<mesh="m0", origin=["g"]> @p1_g.step(%0) : (!m0) -> !m0
    %2 = mpmd.transfer %1 : (!m0) -> !m1
    %3 = mpmd.fragment_call<mesh="m1", origin=["h"]> @p2_h.step(%2, %b) : (!m1, !m1) -> !m1
    %4 = mpmd.transfer %1 : (!m0) -> !m1_columns
    return %4, %3 : !m1_columns, !m1
  }

  // CHECK-NOT: mesh_shape
  // CHECK: module @p0_f.step {{.*}}sym_visibility = "private"{{.*}} {
  // CHECK-NEXT: sdy.mesh @mesh = <["x"=2]>
  // CHECK-NEXT: func.func @main(%arg0: tensor<4x8xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x8xf32> attributes {reserved_hbm_bytes = 5 : i64} {
  // CHECK-NEXT: call @helper(%arg0)
  // CHECK: func.func private @helper(
  // CHECK: module @p1_g.step
  // CHECK-NEXT: func.func @main(%arg0: tensor<4x8xf32> {tf.aliasing_output = 0 : i32})
  // CHECK-NOT: @helper
  // CHECK: module @p2_h.step
  // CHECK-NEXT: func.func @main(
  // CHECK-NEXT: call @helper(
  // CHECK: func.func private @helper(
  // CHECK-NOT: func.func
  func.func @p0_f.step(%x: tensor<4x8xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
      -> tensor<4x8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>, reserved_hbm_bytes = 5 : i64} {
    %0 = func.call @helper(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
  func.func @p1_g.step(%x: tensor<4x8xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4x8xf32>
      attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
    return %x : tensor<4x8xf32>
  }
  func.func @p2_h.step(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32>
      attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
    %0 = func.call @helper(%y) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
  func.func private @helper(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = stablehlo.negate %x : tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}
