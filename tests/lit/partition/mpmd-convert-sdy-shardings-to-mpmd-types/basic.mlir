// RUN: mpmd-opt %s -mpmd-convert-sdy-shardings-to-mpmd-types | FileCheck %s

!m1_4x8 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2_4x8 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2, "y"=2]>>, <"m2": <["x"=2, "y"=2]>>>
sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func @fragment_and_transfer
// CHECK-SAME: (%arg0: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>>)
// CHECK-SAME: -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>, sharding=<@mesh, [{}, {"y"}]>>
// CHECK-SAME: attributes {topology
func.func @fragment_and_transfer(%arg0: !m1_4x8 {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (!m2_4x8 {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) attributes {topology = #topology} {
  // CHECK-NEXT: %[[F:.*]] = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0) (%[[ARG:.*]]: tensor<4x8xf32>) {
  // CHECK-NEXT: %[[ADD:.*]] = stablehlo.add %[[ARG]], %[[ARG]] : tensor<4x8xf32>
  // CHECK-NEXT: sdy.sharding_constraint %[[ADD]] <@mesh, [{}, {"y"}]>
  // CHECK: } : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{}, {"y"}]>>
  // CHECK-NEXT: mpmd.transfer %[[F]] : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{}, {"y"}]>>) -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>, sharding=<@mesh, [{}, {"y"}]>>
  %0 = mpmd.fragment<mesh="m1", origin=["f"], in_shardings=[<@mesh, [{"x"}, {}]>], out_shardings=[<@mesh, [{}, {"y"}]>]> (%arg0) (%arg1: tensor<4x8xf32>) {
    %2 = stablehlo.add %arg1, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<4x8xf32>
    %3 = sdy.sharding_constraint %2 <@mesh, [{}, {"y"}]> : tensor<4x8xf32>
    mpmd.return %3 : tensor<4x8xf32>
  } : (!m1_4x8) -> !m1_4x8
  %1 = mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} %0 : (!m1_4x8) -> !m2_4x8
  return %1 : !m2_4x8
}

// CHECK-LABEL: func @users_decide_about_an_argument
// CHECK-SAME: (%arg0: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>>, %arg1: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>)
func.func @users_decide_about_an_argument(%arg0: !m1_4x8, %arg1: !m1_4x8) -> (!m1_4x8, !m1_4x8) attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"], in_shardings=[<@mesh, [{"x"}, {}]>], out_shardings=[<@mesh, [{"x"}, {}]>]> (%arg0) (%arg2: tensor<4x8xf32>) {
    mpmd.return %arg2 : tensor<4x8xf32>
  } : (!m1_4x8) -> !m1_4x8
  return %0, %arg1 : !m1_4x8, !m1_4x8
}

// CHECK-LABEL: func @keeps_memory_kinds_and_other_attributes
// CHECK-SAME: (%arg0: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>, memory_kind="pinned_host"> {jax.buffer_donor = true})
// CHECK-SAME: -> (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>, memory_kind="pinned_host"> {jax.result_info = "r"})
func.func @keeps_memory_kinds_and_other_attributes(
    %arg0: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, memory_kind="pinned_host"> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>, memory_kind="pinned_host"> {jax.result_info = "r"}) attributes {topology = #topology} {
  return %arg0 : !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, memory_kind="pinned_host">
}

// The function of a call is left alone here.
// CHECK-LABEL: func @calls
// CHECK: mpmd.fragment_call<mesh="m1", origin=["f"]> @f(%arg0) {call_counter = 0 : ui32} : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{}, {"y"}]>>
func.func @calls(%arg0: !m1_4x8) -> !m1_4x8 attributes {topology = #topology} {
  %0 = mpmd.fragment_call<mesh="m1", origin=["f"]> @f(%arg0) {call_counter = 0 : ui32, in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : (!m1_4x8) -> !m1_4x8
  return %0 : !m1_4x8
}
// CHECK: func private @f(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32>
func.func private @f(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2, "y"=2]>} {
  return %arg0 : tensor<4x8xf32>
}
