// RUN: mpmd-opt %s -mpmd-remat-fragment='merge-remat-fragments=true' | FileCheck %s
// RUN: mpmd-opt %s -mpmd-outline-fragments -mpmd-remat-fragment='merge-remat-fragments=true' | FileCheck %s --check-prefix=CALL

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>, <"m2": <["x"=2]>>>

// CHECK-LABEL: func.func @two_microbatches(
// CHECK: %[[V0:.*]]:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0, %arg1) {call_counter = 0 : ui32} (
// CHECK: %[[V3:.*]]:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0, %[[V0]]#0) {call_counter = 1 : ui32} (
// CHECK: %[[V6:.*]] = mpmd.fragment<mesh="m0", origin=["f", "f"(1)]> (%arg0, %arg1) {call_counter = 0 : ui32, remat} (
// CHECK: %[[V10:.*]] = mpmd.fragment<mesh="m0", origin=["f", "f"(1)]> (%arg0, %[[V0]]#0) {call_counter = 1 : ui32, remat} (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V6]], %[[V10]], %[[V0]]#0
// CALL-LABEL: func.func @two_microbatches(
// CALL: %[[V0:.*]]:2 = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0, %arg1) {call_counter = 0
// CALL: %[[V1:.*]]:2 = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0, %[[V0]]#0) {call_counter = 1
// CALL: %[[V2:.*]] = mpmd.fragment_call<mesh="m0", origin=["f", "f"(1)]> @{{.*}}(%arg0, %arg1) {call_counter = 0
// CALL: %[[V3:.*]] = mpmd.fragment_call<mesh="m0", origin=["f", "f"(1)]> @{{.*}}(%arg0, %[[V0]]#0) {call_counter = 1
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V2]], %[[V3]], %[[V0]]#0
func.func @two_microbatches(%a: !m0, %b: !m0) -> (!m0, !m0, !m0) attributes {topology = #topology} {
  %x:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%a, %b) {call_counter = 0 : ui32} (%x_0: tensor<4x8xf32>, %x_1: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_1 : tensor<4x8xf32>
    %y_o = stablehlo.multiply %x_0, %x_1 : tensor<4x8xf32>
    mpmd.return %x_o, %y_o : tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m0, !m0) -> (!m0, !m0)
  %z:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%a, %x#0) {call_counter = 1 : ui32} (%z_0: tensor<4x8xf32>, %z_1: tensor<4x8xf32>) {
    %z_o = stablehlo.add %z_0, %z_1 : tensor<4x8xf32>
    %w_o = stablehlo.multiply %z_0, %z_1 : tensor<4x8xf32>
    mpmd.return %z_o, %w_o : tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m0, !m0) -> (!m0, !m0)
  %p = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%x#0, %x#1) {call_counter = 0 : ui32} (%p_0: tensor<4x8xf32>, %p_1: tensor<4x8xf32>) {
    %p_o = stablehlo.add %p_0, %p_1 : tensor<4x8xf32>
    mpmd.return %p_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  %q = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%z#0, %z#1) {call_counter = 1 : ui32} (%q_0: tensor<4x8xf32>, %q_1: tensor<4x8xf32>) {
    %q_o = stablehlo.add %q_0, %q_1 : tensor<4x8xf32>
    mpmd.return %q_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  return %p, %q, %x#0 : !m0, !m0, !m0
}

// Nothing is kept for long where the backward comes at once.
// CHECK-LABEL: func.func @at_once(
// CHECK: %[[V0:.*]]:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0, %arg1) {call_counter = 0 : ui32} (
// CHECK: %[[V3:.*]] = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%[[V0]]#0, %[[V0]]#1) {call_counter = 0 : ui32} (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V3]]
// CALL-LABEL: func.func @at_once(
// CALL: %[[V0:.*]]:2 = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0, %arg1) {call_counter = 0
// CALL: %[[V1:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"(1)]> @{{.*}}(%[[V0]]#0, %[[V0]]#1) {call_counter = 0
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V1]]
func.func @at_once(%a: !m0, %b: !m0) -> (!m0) attributes {topology = #topology} {
  %x:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%a, %b) {call_counter = 0 : ui32} (%x_0: tensor<4x8xf32>, %x_1: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_1 : tensor<4x8xf32>
    %y_o = stablehlo.multiply %x_0, %x_1 : tensor<4x8xf32>
    mpmd.return %x_o, %y_o : tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m0, !m0) -> (!m0, !m0)
  %p = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%x#0, %x#1) {call_counter = 0 : ui32} (%p_0: tensor<4x8xf32>, %p_1: tensor<4x8xf32>) {
    %p_o = stablehlo.add %p_0, %p_1 : tensor<4x8xf32>
    mpmd.return %p_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  return %p : !m0
}

// CHECK-LABEL: func.func @other_microbatch(
// CHECK: %[[V0:.*]]:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0, %arg1) {call_counter = 0 : ui32} (
// CHECK: %[[V3:.*]] = mpmd.fragment<mesh="m0", origin=["g"]> (%arg0) {call_counter = 1 : ui32} (
// CHECK: %[[V5:.*]] = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%[[V0]]#0, %[[V0]]#1) {call_counter = 1 : ui32} (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V5]], %[[V3]]
// CALL-LABEL: func.func @other_microbatch(
// CALL: %[[V0:.*]]:2 = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0, %arg1) {call_counter = 0
// CALL: %[[V1:.*]] = mpmd.fragment_call<mesh="m0", origin=["g"]> @{{.*}}(%arg0) {call_counter = 1
// CALL: %[[V2:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"(1)]> @{{.*}}(%[[V0]]#0, %[[V0]]#1) {call_counter = 1
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V2]], %[[V1]]
func.func @other_microbatch(%a: !m0, %b: !m0) -> (!m0, !m0) attributes {topology = #topology} {
  %x:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%a, %b) {call_counter = 0 : ui32} (%x_0: tensor<4x8xf32>, %x_1: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_1 : tensor<4x8xf32>
    %y_o = stablehlo.multiply %x_0, %x_1 : tensor<4x8xf32>
    mpmd.return %x_o, %y_o : tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m0, !m0) -> (!m0, !m0)
  %z = mpmd.fragment<mesh="m0", origin=["g"]> (%a) {call_counter = 1 : ui32} (%z_0: tensor<4x8xf32>) {
    %z_o = stablehlo.add %z_0, %z_0 : tensor<4x8xf32>
    mpmd.return %z_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  %p = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%x#0, %x#1) {call_counter = 1 : ui32} (%p_0: tensor<4x8xf32>, %p_1: tensor<4x8xf32>) {
    %p_o = stablehlo.add %p_0, %p_1 : tensor<4x8xf32>
    mpmd.return %p_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  return %p, %z : !m0, !m0
}

// CHECK-LABEL: func.func @without_counters(
// CHECK: %[[V0:.*]]:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0, %arg1) (
// CHECK: %[[V3:.*]] = mpmd.fragment<mesh="m0", origin=["g"]> (%arg0) (
// CHECK: %[[V5:.*]] = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%[[V0]]#0, %[[V0]]#1) (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V5]], %[[V3]]
// CALL-LABEL: func.func @without_counters(
// CALL: %[[V0:.*]]:2 = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0, %arg1)
// CALL: %[[V1:.*]] = mpmd.fragment_call<mesh="m0", origin=["g"]> @{{.*}}(%arg0)
// CALL: %[[V2:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"(1)]> @{{.*}}(%[[V0]]#0, %[[V0]]#1)
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V2]], %[[V1]]
func.func @without_counters(%a: !m0, %b: !m0) -> (!m0, !m0) attributes {topology = #topology} {
  %x:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%a, %b) (%x_0: tensor<4x8xf32>, %x_1: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_1 : tensor<4x8xf32>
    %y_o = stablehlo.multiply %x_0, %x_1 : tensor<4x8xf32>
    mpmd.return %x_o, %y_o : tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m0, !m0) -> (!m0, !m0)
  %z = mpmd.fragment<mesh="m0", origin=["g"]> (%a) (%z_0: tensor<4x8xf32>) {
    %z_o = stablehlo.add %z_0, %z_0 : tensor<4x8xf32>
    mpmd.return %z_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  %p = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%x#0, %x#1) (%p_0: tensor<4x8xf32>, %p_1: tensor<4x8xf32>) {
    %p_o = stablehlo.add %p_0, %p_1 : tensor<4x8xf32>
    mpmd.return %p_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  return %p, %z : !m0, !m0
}

// CHECK-LABEL: func.func @other_stage(
// CHECK: %[[V0:.*]]:2 = mpmd.fragment<mesh="m0", origin=["f"], stage=0> (%arg0, %arg1) {call_counter = 0 : ui32} (
// CHECK: %[[V3:.*]] = mpmd.fragment<mesh="m0", origin=["g"]> (%arg0) (
// CHECK: %[[V5:.*]] = mpmd.fragment<mesh="m0", origin=["f"(1)], stage=1> (%[[V0]]#0, %[[V0]]#1) {call_counter = 0 : ui32} (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V5]], %[[V3]]
// CALL-LABEL: func.func @other_stage(
// CALL: %[[V0:.*]]:2 = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0, %arg1) {call_counter = 0
// CALL: %[[V1:.*]] = mpmd.fragment_call<mesh="m0", origin=["g"]> @{{.*}}(%arg0)
// CALL: %[[V2:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"(1)]> @{{.*}}(%[[V0]]#0, %[[V0]]#1) {call_counter = 0
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V2]], %[[V1]]
func.func @other_stage(%a: !m0, %b: !m0) -> (!m0, !m0) attributes {topology = #topology} {
  %x:2 = mpmd.fragment<mesh="m0", origin=["f"], stage=0> (%a, %b) {call_counter = 0 : ui32} (%x_0: tensor<4x8xf32>, %x_1: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_1 : tensor<4x8xf32>
    %y_o = stablehlo.multiply %x_0, %x_1 : tensor<4x8xf32>
    mpmd.return %x_o, %y_o : tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m0, !m0) -> (!m0, !m0)
  %z = mpmd.fragment<mesh="m0", origin=["g"]> (%a) (%z_0: tensor<4x8xf32>) {
    %z_o = stablehlo.add %z_0, %z_0 : tensor<4x8xf32>
    mpmd.return %z_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  %p = mpmd.fragment<mesh="m0", origin=["f"(1)], stage=1> (%x#0, %x#1) {call_counter = 0 : ui32} (%p_0: tensor<4x8xf32>, %p_1: tensor<4x8xf32>) {
    %p_o = stablehlo.add %p_0, %p_1 : tensor<4x8xf32>
    mpmd.return %p_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  return %p, %z : !m0, !m0
}
