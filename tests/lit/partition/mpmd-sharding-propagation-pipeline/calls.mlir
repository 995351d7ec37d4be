// RUN: mpmd-opt %s -split-input-file -mpmd-sharding-propagation-pipeline | FileCheck %s

// Two stages with one body, weights split in different ways, two microbatches: one function per stage.

!x1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!w1 = !mpmd.mesh_tensor<"m1", tensor<8x8xf32>>
!x2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
!w2 = !mpmd.mesh_tensor<"m2", tensor<8x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2, "y"=2]>>, <"m2": <["x"=2, "y"=2]>>>
sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func @main
// CHECK: fragment_call<mesh="m1", origin=["s"]> @f(%{{.*}}) {call_counter = 0 : ui32}
// CHECK: fragment_call<mesh="m2", origin=["s"]> @[[COPY:f.+]](%{{.*}}) {call_counter = 0 : ui32}
// CHECK: fragment_call<mesh="m1", origin=["s"]> @f(%{{.*}}) {call_counter = 1 : ui32}
// CHECK: fragment_call<mesh="m2", origin=["s"]> @[[COPY]](%{{.*}}) {call_counter = 1 : ui32}
func.func @main(%arg0: !x1 {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: !x1,
                %arg2: !w1 {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>},
                %arg3: !w2 {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (!x2, !x2) attributes {topology = #topology} {
  %0 = mpmd.fragment_call<mesh="m1", origin=["s"]> @f(%arg0, %arg2) {call_counter = 0 : ui32} : (!x1, !w1) -> !x1
  %1 = mpmd.transfer %0 : (!x1) -> !x2
  %2 = mpmd.fragment_call<mesh="m2", origin=["s"]> @f(%1, %arg3) {call_counter = 0 : ui32} : (!x2, !w2) -> !x2
  %3 = mpmd.fragment_call<mesh="m1", origin=["s"]> @f(%arg1, %arg2) {call_counter = 1 : ui32} : (!x1, !w1) -> !x1
  %4 = mpmd.transfer %3 : (!x1) -> !x2
  %5 = mpmd.fragment_call<mesh="m2", origin=["s"]> @f(%4, %arg3) {call_counter = 1 : ui32} : (!x2, !w2) -> !x2
  return %2, %5 : !x2, !x2
}
// CHECK: func private @f(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) -> (tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
func.func private @f(%arg0: tensor<4x8xf32>, %arg1: tensor<8x8xf32>) -> tensor<4x8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2, "y"=2]>} {
  %0 = stablehlo.dot %arg0, %arg1 : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// CHECK: func private @[[COPY]](%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})

// -----

// The user wants the sum to leave in another way than the start came: the first microbatch reshards, in a function of
// its own, and the others keep what it made.

!m = !mpmd.mesh_tensor<"m", tensor<4x8xf32>>
sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func @main
// CHECK: @f(%arg0) {call_counter = 0 : ui32}
// CHECK: @[[OTHERS:f.+]](%{{.*}}) {call_counter = 1 : ui32}
// CHECK: @[[OTHERS]](%{{.*}}) {call_counter = 2 : ui32}
func.func @main(%arg0: !m {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (!m {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
    attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  %0 = mpmd.fragment_call<mesh="m", origin=["f"]> @f(%arg0) {call_counter = 0 : ui32} : (!m) -> !m
  %1 = mpmd.fragment_call<mesh="m", origin=["f"]> @f(%0) {call_counter = 1 : ui32} : (!m) -> !m
  %2 = mpmd.fragment_call<mesh="m", origin=["f"]> @f(%1) {call_counter = 2 : ui32} : (!m) -> !m
  return %2 : !m
}
// CHECK: func private @f(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
func.func private @f(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  %0 = stablehlo.add %arg0, %arg0 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// CHECK: func private @[[OTHERS]](%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})

// -----

// Helper functions that a body calls are there for propagation, and stay.

!m = !mpmd.mesh_tensor<"m", tensor<4x8xf32>>
sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func @main
// CHECK-SAME: -> !mpmd.mesh_tensor<"m", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>>
func.func @main(%arg0: !m {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> !m
    attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  %0 = mpmd.fragment_call<mesh="m", origin=["f"]> @f(%arg0) : (!m) -> !m
  return %0 : !m
}
func.func private @f(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  %0 = func.call @helper(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// CHECK: func private @helper(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32>
func.func private @helper(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
