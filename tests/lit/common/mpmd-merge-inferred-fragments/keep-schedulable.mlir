// Before scheduling, a merge must not make a microbatch wait for another one.
// RUN: mpmd-opt %s -mpmd-merge-inferred-fragments='merge-sideways=true keep-schedulable=true' | FileCheck %s
// RUN: mpmd-opt %s -mpmd-outline-fragments -mpmd-merge-inferred-fragments='merge-sideways=true keep-schedulable=true' | FileCheck %s --check-prefix=CALL

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>, <"m2": <["x"=2]>>>

// The mean of what all microbatches return, and what the first backward takes.
// CHECK-LABEL: func.func @would_join(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0) {call_counter = 0 : ui32} (
// CHECK: %[[V2:.*]] = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0) {call_counter = 1 : ui32} (
// CHECK: %[[V4:.*]] = mpmd.fragment<mesh="m0", origin=[]> (%[[V0]], %[[V2]]) (
// CHECK: %[[V6:.*]] = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%arg1, %[[V0]]) {call_counter = 0 : ui32} (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V4]], %[[V6]]
// CALL-LABEL: func.func @would_join(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0) {call_counter = 0
// CALL: %[[V1:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0) {call_counter = 1
// CALL: %[[V2:.*]] = mpmd.fragment_call<mesh="m0", origin=[]> @{{.*}}(%[[V0]], %[[V1]])
// CALL: %[[V3:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"(1)]> @{{.*}}(%arg1, %[[V0]]) {call_counter = 0
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V2]], %[[V3]]
func.func @would_join(%a: !m0, %b: !m0) -> (!m0, !m0) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x_0: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_0 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  %y = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 1 : ui32} (%y_0: tensor<4x8xf32>) {
    %y_o = stablehlo.add %y_0, %y_0 : tensor<4x8xf32>
    mpmd.return %y_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  %m = mpmd.fragment<mesh="m0", origin=[]> (%x, %y) (%m_0: tensor<4x8xf32>, %m_1: tensor<4x8xf32>) {
    %m_o = stablehlo.add %m_0, %m_1 : tensor<4x8xf32>
    mpmd.return %m_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  %c = mpmd.fragment<mesh="m0", origin=[]> (%b, %b) (%c_0: tensor<4x8xf32>, %c_1: tensor<4x8xf32>) {
    %c_o = stablehlo.add %c_0, %c_1 : tensor<4x8xf32>
    mpmd.return %c_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  %z = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%c, %x) {call_counter = 0 : ui32} (%z_0: tensor<4x8xf32>, %z_1: tensor<4x8xf32>) {
    %z_o = stablehlo.add %z_0, %z_1 : tensor<4x8xf32>
    mpmd.return %z_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  return %m, %z : !m0, !m0
}

// What depends on no microbatch may merge.
// CHECK-LABEL: func.func @before_all(
// CHECK: %[[V0:.*]]:3 = mpmd.fragment<mesh="m0", origin=["f"]> (%arg1, %arg0) {call_counter = 0 : ui32} (
// CHECK: %[[V4:.*]] = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0, %[[V0]]#1, %[[V0]]#0) {call_counter = 1 : ui32} (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]]#2, %[[V4]]
// CALL-LABEL: func.func @before_all(
// CALL: %[[V0:.*]]:3 = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg1, %arg0) {call_counter = 0
// CALL: %[[V1:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0, %[[V0]]#1, %[[V0]]#0) {call_counter = 1
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V0]]#2, %[[V1]]
func.func @before_all(%a: !m0, %b: !m0) -> (!m0, !m0) attributes {topology = #topology} {
  %c = mpmd.fragment<mesh="m0", origin=[]> (%b, %b) (%c_0: tensor<4x8xf32>, %c_1: tensor<4x8xf32>) {
    %c_o = stablehlo.add %c_0, %c_1 : tensor<4x8xf32>
    mpmd.return %c_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  %d = mpmd.fragment<mesh="m0", origin=[]> (%c, %b) (%d_0: tensor<4x8xf32>, %d_1: tensor<4x8xf32>) {
    %d_o = stablehlo.add %d_0, %d_1 : tensor<4x8xf32>
    mpmd.return %d_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  %x = mpmd.fragment<mesh="m0", origin=["f"]> (%a, %d, %c) {call_counter = 0 : ui32} (%x_0: tensor<4x8xf32>, %x_1: tensor<4x8xf32>, %x_2: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_2 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0, !m0, !m0) -> !m0
  %y = mpmd.fragment<mesh="m0", origin=["f"]> (%a, %d, %c) {call_counter = 1 : ui32} (%y_0: tensor<4x8xf32>, %y_1: tensor<4x8xf32>, %y_2: tensor<4x8xf32>) {
    %y_o = stablehlo.add %y_0, %y_2 : tensor<4x8xf32>
    mpmd.return %y_o : tensor<4x8xf32>
  } : (!m0, !m0, !m0) -> !m0
  return %x, %y : !m0, !m0
}

// What no microbatch needs may merge.
// CHECK-LABEL: func.func @after_all(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0) {call_counter = 0 : ui32} (
// CHECK: %[[V2:.*]] = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0) {call_counter = 1 : ui32} (
// CHECK: %[[V4:.*]]:2 = mpmd.fragment<mesh="m0", origin=[]> (%[[V0]], %arg1, %[[V2]]) (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V4]]#0, %[[V4]]#1
// CALL-LABEL: func.func @after_all(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0) {call_counter = 0
// CALL: %[[V1:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0) {call_counter = 1
// CALL: %[[V2:.*]]:2 = mpmd.fragment_call<mesh="m0", origin=[]> @{{.*}}(%[[V0]], %arg1, %[[V1]])
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V2]]#0, %[[V2]]#1
func.func @after_all(%a: !m0, %b: !m0) -> (!m0, !m0) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x_0: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_0 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  %y = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 1 : ui32} (%y_0: tensor<4x8xf32>) {
    %y_o = stablehlo.add %y_0, %y_0 : tensor<4x8xf32>
    mpmd.return %y_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  %c = mpmd.fragment<mesh="m0", origin=[]> (%x, %b) (%c_0: tensor<4x8xf32>, %c_1: tensor<4x8xf32>) {
    %c_o = stablehlo.add %c_0, %c_1 : tensor<4x8xf32>
    mpmd.return %c_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  %d = mpmd.fragment<mesh="m0", origin=[]> (%y, %b) (%d_0: tensor<4x8xf32>, %d_1: tensor<4x8xf32>) {
    %d_o = stablehlo.add %d_0, %d_1 : tensor<4x8xf32>
    mpmd.return %d_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  return %c, %d : !m0, !m0
}
