// RUN: mpmd-opt %s -mpmd-split-and-prioritize-transfer-independent-computations | FileCheck %s
// RUN: mpmd-opt %s -mpmd-outline-fragments -mpmd-split-and-prioritize-transfer-independent-computations | FileCheck %s --check-prefix=CALL

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>, <"m2": <["x"=2]>>>

// A result that needs no transfer, a value that both parts need, a constant that both make.
// CHECK-LABEL: func.func @split(
// CHECK: %[[V0:.*]] = mpmd.transfer %arg0 : ({{.*}}"m0"{{.*}}) -> {{.*}}"m1"
// CHECK: %[[V1:.*]]:2 = mpmd.fragment<mesh="m1", origin=["f"], stage=1> (%arg1) {call_counter = 0 : ui32} (%[[A2:.*]]:
// CHECK: %[[V3:.*]] = stablehlo.constant dense<1.000000e+00>
// CHECK: %[[V4:.*]] = stablehlo.multiply %[[A2]], %[[A2]]
// CHECK: %[[V5:.*]] = stablehlo.subtract %[[V4]], %[[V3]]
// CHECK: mpmd.return %[[V4]], %[[V5]]
// CHECK: %[[V6:.*]]:2 = mpmd.fragment<mesh="m1", origin=["f"], stage=1> (%arg1, %[[V0]], %[[V1]]#1) {call_counter = 0 : ui32} (%[[A7:.*]]: {{.*}}, %[[A8:.*]]: {{.*}}, %[[A9:.*]]:
// CHECK: %[[V10:.*]] = stablehlo.constant dense<1.000000e+00>
// CHECK: %[[V11:.*]] = stablehlo.add %[[A9]], %[[A8]]
// CHECK: %[[V12:.*]] = stablehlo.divide %[[V11]], %[[V10]]
// CHECK: mpmd.return %[[V12]], %[[A7]]
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V6]]#0, %[[V1]]#0, %[[V6]]#1
// CALL-LABEL: func.func @split(
// CALL: %[[V0:.*]] = mpmd.transfer %arg0 : ({{.*}}"m0"{{.*}}) -> {{.*}}"m1"
// CALL: %[[V1:.*]]:2 = mpmd.fragment_call<mesh="m1", origin=["f"]> @{{.*}}(%arg1) {call_counter = 0
// CALL: %[[V2:.*]]:2 = mpmd.fragment_call<mesh="m1", origin=["f"]> @{{.*}}(%arg1, %[[V0]], %[[V1]]#1) {call_counter = 0
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V2]]#0, %[[V1]]#0, %[[V2]]#1
func.func @split(%a: !m0, %w: !m1) -> (!m1, !m1, !m1) attributes {topology = #topology} {
  %t = mpmd.transfer %a : (!m0) -> !m1
  %x:3 = mpmd.fragment<mesh="m1", origin=["f"], stage=1> (%w, %t) {call_counter = 0 : ui32} (%p: tensor<4x8xf32>, %q: tensor<4x8xf32>) {
    %c = stablehlo.constant dense<1.0> : tensor<4x8xf32>
    %r = stablehlo.multiply %p, %p : tensor<4x8xf32>
    %s = stablehlo.subtract %r, %c : tensor<4x8xf32>
    %u = stablehlo.add %s, %q : tensor<4x8xf32>
    %v = stablehlo.divide %u, %c : tensor<4x8xf32>
    mpmd.return %v, %r, %p : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m1, !m1) -> (!m1, !m1, !m1)
  return %x#0, %x#1, %x#2 : !m1, !m1, !m1
}

// CHECK-LABEL: func.func @all_depends(
// CHECK: %[[V0:.*]] = mpmd.transfer %arg0 : ({{.*}}"m0"{{.*}}) -> {{.*}}"m1"
// CHECK: %[[V1:.*]]:2 = mpmd.fragment<mesh="m1", origin=["f"]> (%[[V0]], %arg1) (%[[A2:.*]]: {{.*}}, %[[A3:.*]]:
// CHECK: %[[V4:.*]] = stablehlo.add %[[A2]], %[[A3]]
// CHECK: %[[V5:.*]] = stablehlo.multiply %[[A2]], %[[A3]]
// CHECK: mpmd.return %[[V4]], %[[V5]]
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V1]]#0, %[[V1]]#1
// CALL-LABEL: func.func @all_depends(
// CALL: %[[V0:.*]] = mpmd.transfer %arg0 : ({{.*}}"m0"{{.*}}) -> {{.*}}"m1"
// CALL: %[[V1:.*]]:2 = mpmd.fragment_call<mesh="m1", origin=["f"]> @{{.*}}(%[[V0]], %arg1)
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V1]]#0, %[[V1]]#1
func.func @all_depends(%a: !m0, %b: !m1) -> (!m1, !m1) attributes {topology = #topology} {
  %t = mpmd.transfer %a : (!m0) -> !m1
  %x:2 = mpmd.fragment<mesh="m1", origin=["f"]> (%t, %b) (%x_0: tensor<4x8xf32>, %x_1: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_1 : tensor<4x8xf32>
    %y_o = stablehlo.multiply %x_0, %x_1 : tensor<4x8xf32>
    mpmd.return %x_o, %y_o : tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m1, !m1) -> (!m1, !m1)
  return %x#0, %x#1 : !m1, !m1
}

// CHECK-LABEL: func.func @no_transfer(
// CHECK: %[[V0:.*]]:2 = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0, %arg1) (%[[A1:.*]]: {{.*}}, %[[A2:.*]]:
// CHECK: %[[V3:.*]] = stablehlo.add %[[A1]], %[[A2]]
// CHECK: %[[V4:.*]] = stablehlo.multiply %[[A1]], %[[A2]]
// CHECK: mpmd.return %[[V3]], %[[V4]]
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]]#0, %[[V0]]#1
// CALL-LABEL: func.func @no_transfer(
// CALL: %[[V0:.*]]:2 = mpmd.fragment_call<mesh="m1", origin=["f"]> @{{.*}}(%arg0, %arg1)
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V0]]#0, %[[V0]]#1
func.func @no_transfer(%a: !m1, %b: !m1) -> (!m1, !m1) attributes {topology = #topology} {
  %x:2 = mpmd.fragment<mesh="m1", origin=["f"]> (%a, %b) (%x_0: tensor<4x8xf32>, %x_1: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_1 : tensor<4x8xf32>
    %y_o = stablehlo.multiply %x_0, %x_1 : tensor<4x8xf32>
    mpmd.return %x_o, %y_o : tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m1, !m1) -> (!m1, !m1)
  return %x#0, %x#1 : !m1, !m1
}

// CHECK-LABEL: func.func @effect(
// CHECK: %[[V0:.*]] = mpmd.transfer %arg0 : ({{.*}}"m0"{{.*}}) -> {{.*}}"m1"
// CHECK: %[[V1:.*]]:2 = mpmd.fragment<mesh="m1", origin=["f"]> (%arg1, %[[V0]]) (%[[A2:.*]]: {{.*}}, %[[A3:.*]]:
// CHECK: %[[V4:.*]] = stablehlo.custom_call @log(%[[A2]]) {has_side_effect = true}
// CHECK: %[[V5:.*]] = stablehlo.add %[[V4]], %[[A3]]
// CHECK: mpmd.return %[[V5]], %[[V4]]
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V1]]#0, %[[V1]]#1
// CALL-LABEL: func.func @effect(
// CALL: %[[V0:.*]] = mpmd.transfer %arg0 : ({{.*}}"m0"{{.*}}) -> {{.*}}"m1"
// CALL: %[[V1:.*]]:2 = mpmd.fragment_call<mesh="m1", origin=["f"]> @{{.*}}(%arg1, %[[V0]])
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V1]]#0, %[[V1]]#1
func.func @effect(%a: !m0, %w: !m1) -> (!m1, !m1) attributes {topology = #topology} {
  %t = mpmd.transfer %a : (!m0) -> !m1
  %x:2 = mpmd.fragment<mesh="m1", origin=["f"]> (%w, %t) (%p: tensor<4x8xf32>, %q: tensor<4x8xf32>) {
    %r = stablehlo.custom_call @log(%p) {has_side_effect = true} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %s = stablehlo.add %r, %q : tensor<4x8xf32>
    mpmd.return %s, %r : tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m1, !m1) -> (!m1, !m1)
  return %x#0, %x#1 : !m1, !m1
}
