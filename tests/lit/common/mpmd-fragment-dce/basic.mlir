// RUN: mpmd-opt %s -mpmd-fragment-dce | FileCheck %s
// RUN: mpmd-opt %s -mpmd-outline-fragments -mpmd-fragment-dce | FileCheck %s --check-prefix=CALL

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>, <"m2": <["x"=2]>>>

// A result goes, and with it what only it needed.
// CHECK-LABEL: func.func @unused_result(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0, %arg1) (%[[A1:.*]]: {{.*}}, %[[A2:.*]]:
// CHECK: %[[V3:.*]] = stablehlo.add %[[A1]], %[[A2]]
// CHECK: mpmd.return %[[V3]]
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]]
// CALL-LABEL: func.func @unused_result(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0, %arg1)
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V0]]
func.func @unused_result(%a: !m0, %b: !m0) -> (!m0) attributes {topology = #topology} {
  %x:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%a, %b) (%x_0: tensor<4x8xf32>, %x_1: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_1 : tensor<4x8xf32>
    %y_o = stablehlo.multiply %x_0, %x_1 : tensor<4x8xf32>
    mpmd.return %x_o, %y_o : tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m0, !m0) -> (!m0, !m0)
  return %x#0 : !m0
}

// An operand that the body does not use goes.
// CHECK-LABEL: func.func @unused_operand(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0) {call_counter = 1 : ui32} (%[[A1:.*]]:
// CHECK: %[[V2:.*]] = stablehlo.add %[[A1]], %[[A1]]
// CHECK: mpmd.return %[[V2]]
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]]
// CALL-LABEL: func.func @unused_operand(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0) {call_counter = 1
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V0]]
func.func @unused_operand(%a: !m0, %b: !m0) -> !m0 attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=["f"]> (%a, %b) {call_counter = 1 : ui32} (%p: tensor<4x8xf32>, %q: tensor<4x8xf32>) {
    %dead = stablehlo.multiply %q, %q : tensor<4x8xf32>
    %r = stablehlo.add %p, %p : tensor<4x8xf32>
    mpmd.return %r : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  return %x : !m0
}

// What becomes unused on the way goes too: fragments and transfers.
// CHECK-LABEL: func.func @chain(
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %arg0
// CALL-LABEL: func.func @chain(
// CALL-NOT: {{= mpmd.}}
// CALL: return %arg0
func.func @chain(%a: !m0, %b: !m0) -> (!m0) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x_0: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_0 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  %t = mpmd.transfer %x : (!m0) -> !m1
  %y = mpmd.fragment<mesh="m1", origin=["g"]> (%t) (%y_0: tensor<4x8xf32>) {
    %y_o = stablehlo.add %y_0, %y_0 : tensor<4x8xf32>
    mpmd.return %y_o : tensor<4x8xf32>
  } : (!m1) -> !m1
  %z = mpmd.fragment<mesh="m1", origin=[]> (%t, %y) (%z_0: tensor<4x8xf32>, %z_1: tensor<4x8xf32>) {
    %z_o = stablehlo.add %z_0, %z_1 : tensor<4x8xf32>
    mpmd.return %z_o : tensor<4x8xf32>
  } : (!m1, !m1) -> !m1
  return %a : !m0
}

// Effects stay, whether their results are used or not.
// CHECK-LABEL: func.func @effect(
// CHECK: %[[V0:.*]] = stablehlo.custom_call @log(%arg1) {has_side_effect = true}
// CHECK-NOT: {{= mpmd.}}
// CHECK: mpmd.return
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %arg0
// CALL-LABEL: func.func @effect(
// CALL-NOT: {{= mpmd.}}
// CALL: return %arg0
func.func @effect(%a: !m0) -> !m0 attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%p: tensor<4x8xf32>) {
    %r = stablehlo.custom_call @log(%p) {has_side_effect = true} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    mpmd.return %r : tensor<4x8xf32>
  } : (!m0) -> !m0
  return %a : !m0
}

// Nothing changes where all is used.
// CHECK-LABEL: func.func @all_used(
// CHECK: %[[V0:.*]]:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0, %arg1) (%[[A1:.*]]: {{.*}}, %[[A2:.*]]:
// CHECK: %[[V3:.*]] = stablehlo.add %[[A1]], %[[A2]]
// CHECK: %[[V4:.*]] = stablehlo.multiply %[[A1]], %[[A2]]
// CHECK: mpmd.return %[[V3]], %[[V4]]
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]]#0, %[[V0]]#1
// CALL-LABEL: func.func @all_used(
// CALL: %[[V0:.*]]:2 = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0, %arg1)
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V0]]#0, %[[V0]]#1
func.func @all_used(%a: !m0, %b: !m0) -> (!m0, !m0) attributes {topology = #topology} {
  %x:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%a, %b) (%x_0: tensor<4x8xf32>, %x_1: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_1 : tensor<4x8xf32>
    %y_o = stablehlo.multiply %x_0, %x_1 : tensor<4x8xf32>
    mpmd.return %x_o, %y_o : tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m0, !m0) -> (!m0, !m0)
  return %x#0, %x#1 : !m0, !m0
}
