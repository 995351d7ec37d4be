// RUN: mpmd-opt %s -mpmd-split-bwd-fragments | FileCheck %s
// RUN: mpmd-opt %s -mpmd-outline-fragments -mpmd-split-bwd-fragments | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x4xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>>

// The next stage of the backward is on the same mesh: it waits for its gradient, too.
// CHECK-LABEL: func.func @next_stage(
// CHECK: %[[KEEP:.*]]:2 = mpmd.fragment{{.*}}(%arg0, %arg1) {{{.*}}split_keep_transferred
// CHECK: %[[DROP:.*]] = mpmd.fragment{{.*}}(%arg0, %arg1, %[[KEEP]]#1) {{{.*}}split_drop_transferred
// CHECK: %[[NEXT:.*]] = mpmd.fragment{{.*}}(%[[KEEP]]#0)
// CHECK-NOT: split_
// CHECK: return %[[DROP]], %[[NEXT]]
func.func @next_stage(%g: !m0, %x: !m0) -> (!m0, !m0) attributes {topology = #topology} {
  %0:2 = mpmd.fragment<mesh="m0", origin=["g"(1)], stage=1> (%g, %x) {call_counter = 0 : ui32} (%arg0: tensor<4x4xf32>, %arg1: tensor<4x4xf32>) {
    %dx = stablehlo.add %arg0, %arg0 : tensor<4x4xf32>
    %dw = stablehlo.multiply %arg1, %arg1 : tensor<4x4xf32>
    mpmd.return %dx, %dw : tensor<4x4xf32>, tensor<4x4xf32>
  } : (!m0, !m0) -> (!m0, !m0)
  %1 = mpmd.fragment<mesh="m0", origin=["f"(1)], stage=0> (%0#0) {call_counter = 0 : ui32} (%arg0: tensor<4x4xf32>) {
    %dw = stablehlo.multiply %arg0, %arg0 : tensor<4x4xf32>
    mpmd.return %dw : tensor<4x4xf32>
  } : (!m0) -> !m0
  return %0#1, %1 : !m0, !m0
}

// Within a stage nothing waits.
// CHECK-LABEL: func.func @same_stage(
// CHECK-NOT: split_
// CHECK: return
func.func @same_stage(%g: !m0, %x: !m0) -> (!m0, !m0) attributes {topology = #topology} {
  %0:2 = mpmd.fragment<mesh="m0", origin=["g"(1)], stage=0> (%g, %x) {call_counter = 0 : ui32} (%arg0: tensor<4x4xf32>, %arg1: tensor<4x4xf32>) {
    %dx = stablehlo.add %arg0, %arg0 : tensor<4x4xf32>
    %dw = stablehlo.multiply %arg1, %arg1 : tensor<4x4xf32>
    mpmd.return %dx, %dw : tensor<4x4xf32>, tensor<4x4xf32>
  } : (!m0, !m0) -> (!m0, !m0)
  %1 = mpmd.fragment<mesh="m0", origin=["f"(1)], stage=0> (%0#0) {call_counter = 0 : ui32} (%arg0: tensor<4x4xf32>) {
    %dw = stablehlo.multiply %arg0, %arg0 : tensor<4x4xf32>
    mpmd.return %dw : tensor<4x4xf32>
  } : (!m0) -> !m0
  return %0#1, %1 : !m0, !m0
}
