// What merged fragments keep of the attributes of both.
// RUN: mpmd-opt %s -mpmd-merge-inferred-fragments | FileCheck %s
// RUN: mpmd-opt %s -mpmd-outline-fragments -mpmd-merge-inferred-fragments | FileCheck %s --check-prefix=CALL

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>, <"m2": <["x"=2]>>>

// What inferred both.
// CHECK-LABEL: func.func @reasons(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=[]> (%arg0) {mpmd.inferred_by = ["p", "q", "r"]} (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]]
// CALL-LABEL: func.func @reasons(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m0", origin=[]> @{{.*}}(%arg0) {mpmd.inferred_by = ["p", "q", "r"]}
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V0]]
func.func @reasons(%a: !m0) -> (!m0) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=[]> (%a) {mpmd.inferred_by = ["p", "q"], other = 1} (%x_0: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_0 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  %y = mpmd.fragment<mesh="m0", origin=[]> (%x) {mpmd.inferred_by = ["q", "r"]} (%y_0: tensor<4x8xf32>) {
    %y_o = stablehlo.add %y_0, %y_0 : tensor<4x8xf32>
    mpmd.return %y_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  return %y : !m0
}

// CHECK-LABEL: func.func @reason_goes_with_a_user_fragment(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0) (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]]
// CALL-LABEL: func.func @reason_goes_with_a_user_fragment(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0)
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V0]]
func.func @reason_goes_with_a_user_fragment(%a: !m0) -> (!m0) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=[]> (%a) {mpmd.inferred_by = ["p"]} (%x_0: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_0 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  %y = mpmd.fragment<mesh="m0", origin=["f"]> (%x) (%y_0: tensor<4x8xf32>) {
    %y_o = stablehlo.add %y_0, %y_0 : tensor<4x8xf32>
    mpmd.return %y_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  return %y : !m0
}

// CHECK-LABEL: func.func @counter_of_either(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=[]> (%arg0) {call_counter = 1 : ui32} (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]]
// CALL-LABEL: func.func @counter_of_either(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m0", origin=[]> @{{.*}}(%arg0) {call_counter = 1
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V0]]
func.func @counter_of_either(%a: !m0) -> (!m0) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=[]> (%a) {call_counter = 1 : ui32} (%x_0: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_0 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  %y = mpmd.fragment<mesh="m0", origin=[]> (%x) (%y_0: tensor<4x8xf32>) {
    %y_o = stablehlo.add %y_0, %y_0 : tensor<4x8xf32>
    mpmd.return %y_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  return %y : !m0
}

// CHECK-LABEL: func.func @counter_of_the_user_fragment(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=["f"], stage=3> (%arg0) {call_counter = 2 : ui32} (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]]
// CALL-LABEL: func.func @counter_of_the_user_fragment(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0) {call_counter = 2
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V0]]
func.func @counter_of_the_user_fragment(%a: !m0) -> (!m0) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=[]> (%a) {call_counter = 1 : ui32} (%x_0: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_0 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  %y = mpmd.fragment<mesh="m0", origin=["f"], stage=3> (%x) {call_counter = 2 : ui32} (%y_0: tensor<4x8xf32>) {
    %y_o = stablehlo.add %y_0, %y_0 : tensor<4x8xf32>
    mpmd.return %y_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  return %y : !m0
}

// CHECK-LABEL: func.func @different_counters(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=[]> (%arg0) (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]]
// CALL-LABEL: func.func @different_counters(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m0", origin=[]> @{{.*}}(%arg0)
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V0]]
func.func @different_counters(%a: !m0) -> (!m0) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=[]> (%a) {call_counter = 1 : ui32} (%x_0: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_0 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  %y = mpmd.fragment<mesh="m0", origin=[]> (%x) {call_counter = 2 : ui32} (%y_0: tensor<4x8xf32>) {
    %y_o = stablehlo.add %y_0, %y_0 : tensor<4x8xf32>
    mpmd.return %y_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  return %y : !m0
}

// Halves that were split on purpose stay apart.
// CHECK-LABEL: func.func @halves_of_a_backward(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=[]> (%arg0) {split_keep_transferred} (
// CHECK: %[[V2:.*]] = mpmd.fragment<mesh="m0", origin=["f"]> (%[[V0]]) {split_drop_transferred} (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V2]]
// CALL-LABEL: func.func @halves_of_a_backward(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m0", origin=[]> @{{.*}}(%arg0) {split_keep_transferred}
// CALL: %[[V1:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%[[V0]]) {split_drop_transferred}
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V1]]
func.func @halves_of_a_backward(%a: !m0) -> (!m0) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=[]> (%a) {split_keep_transferred} (%x_0: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_0 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  %y = mpmd.fragment<mesh="m0", origin=["f"]> (%x) {split_drop_transferred} (%y_0: tensor<4x8xf32>) {
    %y_o = stablehlo.add %y_0, %y_0 : tensor<4x8xf32>
    mpmd.return %y_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  return %y : !m0
}
