// RUN: mpmd-opt %s -split-input-file -mpmd-propagate-shardings | FileCheck %s

// The sharding of the input reaches the second microbatch through the shared function, and the
// other mesh through the transfer.

!m1_4x8 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2_4x8 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2, "y"=2]>>, <"m2": <["x"=2, "y"=2]>>>
sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func @two_microbatches
// CHECK: mpmd.fragment_call<mesh="m1", origin=["f"]> @f(%arg0) {call_counter = 0 : ui32, in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
// CHECK: mpmd.fragment_call<mesh="m1", origin=["f"]> @f(%arg1) {call_counter = 1 : ui32, in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
// CHECK: mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
func.func @two_microbatches(%arg0: !m1_4x8 {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: !m1_4x8)
    -> (!m1_4x8, !m2_4x8) attributes {topology = #topology} {
  %0 = mpmd.fragment_call<mesh="m1", origin=["f"]> @f(%arg0) {call_counter = 0 : ui32} : (!m1_4x8) -> !m1_4x8
  %1 = mpmd.fragment_call<mesh="m1", origin=["f"]> @f(%arg1) {call_counter = 1 : ui32} : (!m1_4x8) -> !m1_4x8
  %2 = mpmd.transfer %1 : (!m1_4x8) -> !m2_4x8
  return %0, %2 : !m1_4x8, !m2_4x8
}
func.func private @f(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2, "y"=2]>} {
  %0 = stablehlo.tanh %arg0 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// Microbatches with different user shardings: each call takes its argument as it comes.

!m1_4x8 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2, "y"=2]>>>
sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func @conflicting_users
// CHECK: call_counter = 0 : ui32, in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>
// CHECK: call_counter = 1 : ui32, in_shardings = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>
func.func @conflicting_users(
    %arg0: !m1_4x8 {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %arg1: !m1_4x8 {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>})
    -> (!m1_4x8, !m1_4x8) attributes {topology = #topology} {
  %0 = mpmd.fragment_call<mesh="m1", origin=["f"]> @f(%arg0) {call_counter = 0 : ui32} : (!m1_4x8) -> !m1_4x8
  %1 = mpmd.fragment_call<mesh="m1", origin=["f"]> @f(%arg1) {call_counter = 1 : ui32} : (!m1_4x8) -> !m1_4x8
  return %0, %1 : !m1_4x8, !m1_4x8
}
func.func private @f(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2, "y"=2]>} {
  %0 = stablehlo.tanh %arg0 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// An accumulator: the zeros that the first microbatch adds to, made elsewhere, are split as the sums are, and
// those as the constraint on what is added says.

!m1_4x8 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2, "y"=2]>>>
sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func @accumulator
// CHECK: @zeros() {out_shardings = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>}
// CHECK: call_counter = 0 : ui32, in_shardings = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>, <@mesh, [{"y"}, {}]>]>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>
// CHECK: call_counter = 1 : ui32, in_shardings = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>, <@mesh, [{"y"}, {}]>]>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>
func.func @accumulator(%arg0: !m1_4x8, %arg1: !m1_4x8) -> !m1_4x8 attributes {topology = #topology} {
  %0 = mpmd.fragment_call<mesh="m1", origin=[]> @zeros() : () -> !m1_4x8
  %1 = mpmd.fragment_call<mesh="m1", origin=["f"]> @add(%0, %arg0) {call_counter = 0 : ui32} : (!m1_4x8, !m1_4x8) -> !m1_4x8
  %2 = mpmd.fragment_call<mesh="m1", origin=["f"]> @add(%1, %arg1) {call_counter = 1 : ui32} : (!m1_4x8, !m1_4x8) -> !m1_4x8
  return %2 : !m1_4x8
}
func.func private @zeros() -> tensor<4x8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2, "y"=2]>} {
  %0 = stablehlo.constant dense<0.0> : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
func.func private @add(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2, "y"=2]>} {
  %0 = sdy.sharding_constraint %arg1 <@mesh, [{"y"}, {}]> : tensor<4x8xf32>
  %1 = stablehlo.add %arg0, %0 : tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

// What one call returns and a later call of the same function takes is tied by nothing but the function.

!m1_4x8 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2, "y"=2]>>>
sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func @tied_by_a_group
// CHECK: @f(%arg0) {call_counter = 0 : ui32, in_shardings = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>}
// CHECK: @f(%{{.*}}) {call_counter = 1 : ui32, in_shardings = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>}
func.func @tied_by_a_group(%arg0: !m1_4x8)
    -> (!m1_4x8 {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) attributes {topology = #topology} {
  %0 = mpmd.fragment_call<mesh="m1", origin=["f"]> @f(%arg0) {call_counter = 0 : ui32} : (!m1_4x8) -> !m1_4x8
  %1 = mpmd.fragment_call<mesh="m1", origin=["f"]> @f(%0) {call_counter = 1 : ui32} : (!m1_4x8) -> !m1_4x8
  return %1 : !m1_4x8
}
func.func private @f(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2, "y"=2]>} {
  %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.custom_call @opaque(%0) : (tensor<8x4xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

// Without microbatches, calls of one function are told apart.

!m1_4x8 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2, "y"=2]>>>
sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func @two_layers
// CHECK: @f(%arg0, %arg1) {in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>, <@mesh, [{}, {"y"}]>]>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>}
// CHECK: @f(%{{.*}}, %arg2) {in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>, <@mesh, [{"y"}, {}]>]>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
func.func @two_layers(
    %arg0: !m1_4x8 {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %arg1: !mpmd.mesh_tensor<"m1", tensor<8x8xf32>> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>},
    %arg2: !mpmd.mesh_tensor<"m1", tensor<8x8xf32>> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
    -> !m1_4x8 attributes {topology = #topology} {
  %0 = mpmd.fragment_call<mesh="m1", origin=["f"]> @f(%arg0, %arg1) : (!m1_4x8, !mpmd.mesh_tensor<"m1", tensor<8x8xf32>>) -> !m1_4x8
  %1 = mpmd.fragment_call<mesh="m1", origin=["f"]> @f(%0, %arg2) : (!m1_4x8, !mpmd.mesh_tensor<"m1", tensor<8x8xf32>>) -> !m1_4x8
  return %1 : !m1_4x8
}
func.func private @f(%arg0: tensor<4x8xf32>, %arg1: tensor<8x8xf32>) -> tensor<4x8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2, "y"=2]>} {
  %0 = stablehlo.dot %arg0, %arg1 : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// Nothing says how to split anything.

!m1_4x8 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2, "y"=2]>>>
sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func @no_user_shardings
// CHECK: mpmd.fragment_call<mesh="m1", origin=["f"]> @f(%arg0) {call_counter = 0 : ui32} :
func.func @no_user_shardings(%arg0: !m1_4x8) -> !m1_4x8 attributes {topology = #topology} {
  %0 = mpmd.fragment_call<mesh="m1", origin=["f"]> @f(%arg0) {call_counter = 0 : ui32} : (!m1_4x8) -> !m1_4x8
  return %0 : !m1_4x8
}
func.func private @f(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2, "y"=2]>} {
  %0 = stablehlo.tanh %arg0 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
