// RUN: mpmd-opt %s -mpmd-absorb-inferred-fragments='absorb-on-entry-point-function=true' | FileCheck %s
// RUN: mpmd-opt %s -mpmd-outline-fragments -mpmd-absorb-inferred-fragments='absorb-on-entry-point-function=true' | FileCheck %s --check-prefix=CALL

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>, <"m2": <["x"=2]>>>

// CHECK-LABEL: func.func @producer(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0, %arg1) (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]]
// CALL-LABEL: func.func @producer(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0, %arg1)
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V0]]
func.func @producer(%a: !m0, %b: !m0) -> (!m0) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=[]> (%a, %b) (%x_0: tensor<4x8xf32>, %x_1: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_1 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  %y = mpmd.fragment<mesh="m0", origin=["f"]> (%x, %b) (%y_0: tensor<4x8xf32>, %y_1: tensor<4x8xf32>) {
    %y_o = stablehlo.add %y_0, %y_1 : tensor<4x8xf32>
    mpmd.return %y_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  return %y : !m0
}

// CHECK-LABEL: func.func @consumer(
// CHECK: %[[V0:.*]]:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0, %arg1) (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]]#1, %[[V0]]#0
// CALL-LABEL: func.func @consumer(
// CALL: %[[V0:.*]]:2 = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0, %arg1)
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V0]]#1, %[[V0]]#0
func.func @consumer(%a: !m0, %b: !m0) -> (!m0, !m0) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=["f"]> (%a, %b) (%x_0: tensor<4x8xf32>, %x_1: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_1 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  %y = mpmd.fragment<mesh="m0", origin=[]> (%x, %b) (%y_0: tensor<4x8xf32>, %y_1: tensor<4x8xf32>) {
    %y_o = stablehlo.add %y_0, %y_1 : tensor<4x8xf32>
    mpmd.return %y_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  return %y, %x : !m0, !m0
}

// CHECK-LABEL: func.func @until_nothing_changes(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0, %arg1) (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]]
// CALL-LABEL: func.func @until_nothing_changes(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0, %arg1)
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V0]]
func.func @until_nothing_changes(%a: !m0, %b: !m0) -> (!m0) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=[]> (%a, %b) (%x_0: tensor<4x8xf32>, %x_1: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_1 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  %y = mpmd.fragment<mesh="m0", origin=[]> (%x, %a) (%y_0: tensor<4x8xf32>, %y_1: tensor<4x8xf32>) {
    %y_o = stablehlo.add %y_0, %y_1 : tensor<4x8xf32>
    mpmd.return %y_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  %z = mpmd.fragment<mesh="m0", origin=["f"]> (%y, %b) (%z_0: tensor<4x8xf32>, %z_1: tensor<4x8xf32>) {
    %z_o = stablehlo.add %z_0, %z_1 : tensor<4x8xf32>
    mpmd.return %z_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  %v = mpmd.fragment<mesh="m0", origin=[]> (%z, %y) (%v_0: tensor<4x8xf32>, %v_1: tensor<4x8xf32>) {
    %v_o = stablehlo.add %v_0, %v_1 : tensor<4x8xf32>
    mpmd.return %v_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  %w = mpmd.fragment<mesh="m0", origin=[]> (%v, %z) (%w_0: tensor<4x8xf32>, %w_1: tensor<4x8xf32>) {
    %w_o = stablehlo.add %w_0, %w_1 : tensor<4x8xf32>
    mpmd.return %w_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  return %w : !m0
}

// The last inferred fragment of a chain absorbs the others.
// CHECK-LABEL: func.func @without_a_user_fragment(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=[]> (%arg0, %arg1) (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]]
// CALL-LABEL: func.func @without_a_user_fragment(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m0", origin=[]> @{{.*}}(%arg0, %arg1)
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V0]]
func.func @without_a_user_fragment(%a: !m0, %b: !m0) -> (!m0) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=[]> (%a, %b) (%x_0: tensor<4x8xf32>, %x_1: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_1 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  %y = mpmd.fragment<mesh="m0", origin=[]> (%x, %b) (%y_0: tensor<4x8xf32>, %y_1: tensor<4x8xf32>) {
    %y_o = stablehlo.add %y_0, %y_1 : tensor<4x8xf32>
    mpmd.return %y_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  return %y : !m0
}

// A transfer of what is absorbed waits for its first user.
// CHECK-LABEL: func.func @transfer_of_the_producer(
// CHECK: %[[V0:.*]]:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0, %arg1) (
// CHECK: %[[V3:.*]] = mpmd.transfer %[[V0]]#0 : ({{.*}}"m0"{{.*}}) -> {{.*}}"m1"
// CHECK: %[[V4:.*]] = mpmd.fragment<mesh="m1", origin=["g"]> (%[[V3]], %arg2) (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]]#1, %[[V4]]
// CALL-LABEL: func.func @transfer_of_the_producer(
// CALL: %[[V0:.*]]:2 = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0, %arg1)
// CALL: %[[V1:.*]] = mpmd.transfer %[[V0]]#0 : ({{.*}}"m0"{{.*}}) -> {{.*}}"m1"
// CALL: %[[V2:.*]] = mpmd.fragment_call<mesh="m1", origin=["g"]> @{{.*}}(%[[V1]], %arg2)
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V0]]#1, %[[V2]]
func.func @transfer_of_the_producer(%a: !m0, %b: !m0, %c: !m1) -> (!m0, !m1) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=[]> (%a, %b) (%x_0: tensor<4x8xf32>, %x_1: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_1 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  %t = mpmd.transfer %x : (!m0) -> !m1
  %y = mpmd.fragment<mesh="m0", origin=["f"]> (%x, %b) (%y_0: tensor<4x8xf32>, %y_1: tensor<4x8xf32>) {
    %y_o = stablehlo.add %y_0, %y_1 : tensor<4x8xf32>
    mpmd.return %y_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  %z = mpmd.fragment<mesh="m1", origin=["g"]> (%t, %c) (%z_0: tensor<4x8xf32>, %z_1: tensor<4x8xf32>) {
    %z_o = stablehlo.add %z_0, %z_1 : tensor<4x8xf32>
    mpmd.return %z_o : tensor<4x8xf32>
  } : (!m1, !m1) -> !m1
  return %y, %z : !m0, !m1
}

// The consumer is asked first.
// CHECK-LABEL: func.func @between_two_user_fragments(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0) (
// CHECK: %[[V2:.*]] = mpmd.fragment<mesh="m0", origin=["g"]> (%[[V0]]) (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V2]]
// CALL-LABEL: func.func @between_two_user_fragments(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0)
// CALL: %[[V1:.*]] = mpmd.fragment_call<mesh="m0", origin=["g"]> @{{.*}}(%[[V0]])
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V1]]
func.func @between_two_user_fragments(%a: !m0) -> (!m0) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x_0: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_0 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  %y = mpmd.fragment<mesh="m0", origin=[]> (%x) (%y_0: tensor<4x8xf32>) {
    %y_o = stablehlo.add %y_0, %y_0 : tensor<4x8xf32>
    mpmd.return %y_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  %z = mpmd.fragment<mesh="m0", origin=["g"]> (%y) (%z_0: tensor<4x8xf32>) {
    %z_o = stablehlo.add %z_0, %z_0 : tensor<4x8xf32>
    mpmd.return %z_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  return %z : !m0
}

// The inferred fragment is needed before the fragment that uses it next on its mesh.
// CHECK-LABEL: func.func @not_the_closest(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=[]> (%arg0) (
// CHECK: %[[V2:.*]] = mpmd.transfer %[[V0]] : ({{.*}}"m0"{{.*}}) -> {{.*}}"m1"
// CHECK: %[[V3:.*]] = mpmd.fragment<mesh="m1", origin=["g"]> (%[[V2]], %arg1) (
// CHECK: %[[V5:.*]] = mpmd.transfer %[[V3]] : ({{.*}}"m1"{{.*}}) -> {{.*}}"m0"
// CHECK: %[[V6:.*]] = mpmd.fragment<mesh="m0", origin=["f"]> (%[[V0]], %[[V5]]) (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V6]]
// CALL-LABEL: func.func @not_the_closest(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m0", origin=[]> @{{.*}}(%arg0)
// CALL: %[[V1:.*]] = mpmd.transfer %[[V0]] : ({{.*}}"m0"{{.*}}) -> {{.*}}"m1"
// CALL: %[[V2:.*]] = mpmd.fragment_call<mesh="m1", origin=["g"]> @{{.*}}(%[[V1]], %arg1)
// CALL: %[[V3:.*]] = mpmd.transfer %[[V2]] : ({{.*}}"m1"{{.*}}) -> {{.*}}"m0"
// CALL: %[[V4:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%[[V0]], %[[V3]])
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V4]]
func.func @not_the_closest(%a: !m0, %b: !m1) -> (!m0) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=[]> (%a) (%x_0: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_0 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  %t = mpmd.transfer %x : (!m0) -> !m1
  %y = mpmd.fragment<mesh="m1", origin=["g"]> (%t, %b) (%y_0: tensor<4x8xf32>, %y_1: tensor<4x8xf32>) {
    %y_o = stablehlo.add %y_0, %y_1 : tensor<4x8xf32>
    mpmd.return %y_o : tensor<4x8xf32>
  } : (!m1, !m1) -> !m1
  %s = mpmd.transfer %y : (!m1) -> !m0
  %z = mpmd.fragment<mesh="m0", origin=["f"]> (%x, %s) (%z_0: tensor<4x8xf32>, %z_1: tensor<4x8xf32>) {
    %z_o = stablehlo.add %z_0, %z_1 : tensor<4x8xf32>
    mpmd.return %z_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  return %z : !m0
}

// CHECK-LABEL: func.func @user_fragments(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0) (
// CHECK: %[[V2:.*]] = mpmd.fragment<mesh="m0", origin=["g"]> (%[[V0]]) (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V2]]
// CALL-LABEL: func.func @user_fragments(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0)
// CALL: %[[V1:.*]] = mpmd.fragment_call<mesh="m0", origin=["g"]> @{{.*}}(%[[V0]])
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V1]]
func.func @user_fragments(%a: !m0) -> (!m0) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x_0: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_0 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  %y = mpmd.fragment<mesh="m0", origin=["g"]> (%x) (%y_0: tensor<4x8xf32>) {
    %y_o = stablehlo.add %y_0, %y_0 : tensor<4x8xf32>
    mpmd.return %y_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  return %y : !m0
}

// Those of the absorbing fragment stay.
// CHECK-LABEL: func.func @attributes(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=["f"], stage=3> (%arg0) {call_counter = 1 : ui32, other = 1 : i64} (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]]
// CALL-LABEL: func.func @attributes(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0) {call_counter = 1
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V0]]
func.func @attributes(%a: !m0) -> (!m0) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=[]> (%a) {mpmd.inferred_by = ["p"], call_counter = 2 : ui32} (%x_0: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_0 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  %y = mpmd.fragment<mesh="m0", origin=["f"], stage=3> (%x) {call_counter = 1 : ui32, other = 1} (%y_0: tensor<4x8xf32>) {
    %y_o = stablehlo.add %y_0, %y_0 : tensor<4x8xf32>
    mpmd.return %y_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  return %y : !m0
}
