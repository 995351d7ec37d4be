// RUN: mpmd-opt %s -mpmd-split-bwd-fragments | FileCheck %s
// RUN: mpmd-opt %s -mpmd-outline-fragments -mpmd-split-bwd-fragments | FileCheck %s --check-prefix=CALL

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x4xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>>

// What the second half lacks is handed to it, last use first; that includes what the first half
// takes. Both halves take all operands.
// CHECK-LABEL: func.func @split(
// CHECK: %[[KEEP:.*]]:4 = mpmd.fragment<mesh="m1", origin=["f"(1)], stage=1> (%arg0, %arg1, %arg2) {call_counter = 3 : ui32, split_keep_transferred} (%[[G:.*]]: tensor<4x4xf32>, %[[X:.*]]: tensor<4x4xf32>, %[[W:.*]]: tensor<4x4xf32>)
// CHECK-NEXT: %[[A:.*]] = stablehlo.add %[[G]], %[[G]]
// CHECK-NEXT: %[[B:.*]] = stablehlo.add %[[A]], %[[A]]
// CHECK-NEXT: %[[DX:.*]] = stablehlo.multiply %[[B]], %[[W]]
// CHECK-NEXT: mpmd.return %[[DX]], %[[B]], %[[A]], %[[X]]
// CHECK: %[[DROP:.*]]:2 = mpmd.fragment<mesh="m1", origin=["f"(1)], stage=1> (%arg0, %arg1, %arg2, %[[KEEP]]#1, %[[KEEP]]#2, %[[KEEP]]#3) {call_counter = 3 : ui32, split_drop_transferred} (%{{.*}}: {{.*}}, %{{.*}}: {{.*}}, %{{.*}}: {{.*}}, %[[B2:.*]]: {{.*}}, %[[A2:.*]]: {{.*}}, %[[X2:.*]]: tensor<4x4xf32>)
// CHECK-NEXT: %[[DW:.*]] = stablehlo.multiply %[[X2]], %[[A2]]
// CHECK-NEXT: mpmd.return %[[DW]], %[[B2]]
// CHECK: %[[T:.*]] = mpmd.transfer %[[KEEP]]#0
// CHECK: return %[[DROP]]#0, %[[T]], %[[DROP]]#1
// CALL-LABEL: func.func @split(
// CALL: %[[KEEP:.*]]:4 = mpmd.fragment_call<mesh="m1", origin=["f"(1)]> @{{.*}}(%arg0, %arg1, %arg2) {call_counter = 3 : ui32, split_keep_transferred, stage_id = 1 : i64}
// CALL: %[[DROP:.*]]:2 = mpmd.fragment_call<mesh="m1", origin=["f"(1)]> @{{.*}}(%arg0, %arg1, %arg2, %[[KEEP]]#1, %[[KEEP]]#2, %[[KEEP]]#3) {call_counter = 3 : ui32, split_drop_transferred, stage_id = 1 : i64}
// CALL: %[[T:.*]] = mpmd.transfer %[[KEEP]]#0
// CALL: return %[[DROP]]#0, %[[T]], %[[DROP]]#1
func.func @split(%g: !m1, %x: !m1, %w: !m1) -> (!m1, !m0, !m1) attributes {topology = #topology} {
  %0:3 = mpmd.fragment<mesh="m1", origin=["f"(1)], stage=1> (%g, %x, %w) {call_counter = 3 : ui32} (%arg0: tensor<4x4xf32>, %arg1: tensor<4x4xf32>, %arg2: tensor<4x4xf32>) {
    %a = stablehlo.add %arg0, %arg0 : tensor<4x4xf32>
    %dw = stablehlo.multiply %arg1, %a : tensor<4x4xf32>
    %b = stablehlo.add %a, %a : tensor<4x4xf32>
    %dx = stablehlo.multiply %b, %arg2 : tensor<4x4xf32>
    mpmd.return %dw, %dx, %b : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  } : (!m1, !m1, !m1) -> (!m1, !m1, !m1)
  %t = mpmd.transfer %0#1 : (!m1) -> !m0
  return %0#0, %t, %0#2 : !m1, !m0, !m1
}

// A result is transferred whatever else uses it; an inner operation that both halves need is in the
// first one only.
// CHECK-LABEL: func.func @used_otherwise_too(
// CHECK: %[[KEEP:.*]]:3 = mpmd.fragment<mesh="m1", origin=["f"(1), "g"(1)]> (%arg0, %arg1) {split_keep_transferred}
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant
// CHECK-NEXT: %[[Y:.*]] = stablehlo.multiply %{{.*}}, %[[C]]
// CHECK-NEXT: %[[Z:.*]] = stablehlo.add %[[Y]], %[[C]]
// CHECK-NEXT: mpmd.return %[[Z]], %[[C]], %[[Z]]
// CHECK: %[[DROP:.*]] = mpmd.fragment<mesh="m1", origin=["f"(1), "g"(1)]> (%arg0, %arg1, %[[KEEP]]#1, %[[KEEP]]#2) {split_drop_transferred}
// CHECK-NEXT: stablehlo.dot_general
// CHECK-NEXT: mpmd.return
// CHECK: %[[T:.*]] = mpmd.transfer %[[KEEP]]#0
// CHECK: return %[[T]], %[[KEEP]]#0, %[[DROP]]
// CALL-LABEL: func.func @used_otherwise_too(
// CALL: %[[KEEP:.*]]:3 = mpmd.fragment_call{{.*}}(%arg0, %arg1) {split_keep_transferred}
// CALL: %[[DROP:.*]] = mpmd.fragment_call{{.*}}(%arg0, %arg1, %[[KEEP]]#1, %[[KEEP]]#2) {split_drop_transferred}
// CALL: return %{{.*}}, %[[KEEP]]#0, %[[DROP]]
func.func @used_otherwise_too(%g: !m1, %x: !m1) -> (!m0, !m1, !m1) attributes {topology = #topology} {
  %0:2 = mpmd.fragment<mesh="m1", origin=["f"(1), "g"(1)]> (%g, %x) (%arg0: tensor<4x4xf32>, %arg1: tensor<4x4xf32>) {
    %c = stablehlo.constant dense<2.0> : tensor<4x4xf32>
    %y = stablehlo.multiply %arg0, %c : tensor<4x4xf32>
    %z = stablehlo.add %y, %c : tensor<4x4xf32>
    %d = stablehlo.dot_general %z, %c, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    mpmd.return %z, %d : tensor<4x4xf32>, tensor<4x4xf32>
  } : (!m1, !m1) -> (!m1, !m1)
  %t = mpmd.transfer %0#0 : (!m1) -> !m0
  return %t, %0#0, %0#1 : !m0, !m1, !m1
}

// What has an effect and is not needed for what is transferred comes second.
// CHECK-LABEL: func.func @effect(
// CHECK: split_keep_transferred
// CHECK-NOT: custom_call
// CHECK: split_drop_transferred
// CHECK: stablehlo.custom_call @log(%{{.*}}) {has_side_effect = true}
func.func @effect(%g: !m1, %x: !m1) -> (!m0, !m1) attributes {topology = #topology} {
  %0:2 = mpmd.fragment<mesh="m1", origin=["f"(1)]> (%g, %x) (%arg0: tensor<4x4xf32>, %arg1: tensor<4x4xf32>) {
    %y = stablehlo.add %arg0, %arg0 : tensor<4x4xf32>
    %l = stablehlo.custom_call @log(%y) {has_side_effect = true} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %z = stablehlo.add %arg1, %arg1 : tensor<4x4xf32>
    mpmd.return %y, %z : tensor<4x4xf32>, tensor<4x4xf32>
  } : (!m1, !m1) -> (!m1, !m1)
  %t = mpmd.transfer %0#0 : (!m1) -> !m0
  return %t, %0#1 : !m0, !m1
}
