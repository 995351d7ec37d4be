// RUN: mpmd-opt %s -mpmd-uniquify-function-inputs-outputs | FileCheck %s
// RUN: mpmd-opt %s -mpmd-outline-fragments -mpmd-uniquify-function-inputs-outputs | FileCheck %s --check-prefix=CALL

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>, <"m2": <["x"=2]>>>

// CHECK-LABEL: func.func @argument(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0) (%[[A1:.*]]:
// CHECK: %[[V2:.*]] = stablehlo.add %[[A1]], %[[A1]]
// CHECK: mpmd.return %[[V2]]
// CHECK: %[[V3:.*]] = mpmd.fragment<mesh="m0", origin=[]> (%arg0) {mpmd.inferred_by = ["uniquify"]} (%[[A4:.*]]:
// CHECK: mpmd.return %[[A4]]
// CHECK: %[[V5:.*]] = mpmd.fragment<mesh="m1", origin=[]> (%arg1) {mpmd.inferred_by = ["uniquify"]} (%[[A6:.*]]:
// CHECK: mpmd.return %[[A6]]
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V3]], %[[V0]], %[[V5]]
// CALL-LABEL: func.func @argument(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0)
// CALL: %[[V1:.*]] = mpmd.fragment_call<mesh="m0", origin=[]> @{{.*}}(%arg0) {mpmd.inferred_by = ["uniquify"]}
// CALL: %[[V2:.*]] = mpmd.fragment_call<mesh="m1", origin=[]> @{{.*}}(%arg1) {mpmd.inferred_by = ["uniquify"]}
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V1]], %[[V0]], %[[V2]]
func.func @argument(%a: !m0, %b: !m1) -> (!m0, !m0, !m1) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x_0: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_0 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  return %a, %x, %b : !m0, !m0, !m1
}

// CHECK-LABEL: func.func @returned_twice(
// CHECK: %[[V0:.*]]:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0, %arg0) (%[[A1:.*]]: {{.*}}, %[[A2:.*]]:
// CHECK: %[[V3:.*]] = stablehlo.add %[[A1]], %[[A2]]
// CHECK: %[[V4:.*]] = stablehlo.multiply %[[A1]], %[[A2]]
// CHECK: mpmd.return %[[V3]], %[[V4]]
// CHECK: %[[V5:.*]] = mpmd.transfer %[[V0]]#0 : ({{.*}}"m0"{{.*}}) -> {{.*}}"m1"
// CHECK: %[[V6:.*]]:2 = mpmd.fragment<mesh="m0", origin=[]> (%[[V0]]#0) {mpmd.inferred_by = ["uniquify"]} (%[[A7:.*]]:
// CHECK: mpmd.return %[[A7]], %[[A7]]
// CHECK: %[[V8:.*]]:2 = mpmd.fragment<mesh="m1", origin=[]> (%[[V5]]) {mpmd.inferred_by = ["uniquify"]} (%[[A9:.*]]:
// CHECK: mpmd.return %[[A9]], %[[A9]]
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V6]]#0, %[[V0]]#1, %[[V6]]#1, %[[V8]]#0, %[[V8]]#1
// CALL-LABEL: func.func @returned_twice(
// CALL: %[[V0:.*]]:2 = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0, %arg0)
// CALL: %[[V1:.*]] = mpmd.transfer %[[V0]]#0 : ({{.*}}"m0"{{.*}}) -> {{.*}}"m1"
// CALL: %[[V2:.*]]:2 = mpmd.fragment_call<mesh="m0", origin=[]> @{{.*}}(%[[V0]]#0) {mpmd.inferred_by = ["uniquify"]}
// CALL: %[[V3:.*]]:2 = mpmd.fragment_call<mesh="m1", origin=[]> @{{.*}}(%[[V1]]) {mpmd.inferred_by = ["uniquify"]}
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V2]]#0, %[[V0]]#1, %[[V2]]#1, %[[V3]]#0, %[[V3]]#1
func.func @returned_twice(%a: !m0) -> (!m0, !m0, !m0, !m1, !m1) attributes {topology = #topology} {
  %x:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%a, %a) (%x_0: tensor<4x8xf32>, %x_1: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_1 : tensor<4x8xf32>
    %y_o = stablehlo.multiply %x_0, %x_1 : tensor<4x8xf32>
    mpmd.return %x_o, %y_o : tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m0, !m0) -> (!m0, !m0)
  %z = mpmd.transfer %x#0 : (!m0) -> !m1
  return %x#0, %x#1, %x#0, %z, %z : !m0, !m0, !m0, !m1, !m1
}

// CHECK-LABEL: func.func @unique(
// CHECK: %[[V0:.*]]:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0, %arg0) (%[[A1:.*]]: {{.*}}, %[[A2:.*]]:
// CHECK: %[[V3:.*]] = stablehlo.add %[[A1]], %[[A2]]
// CHECK: %[[V4:.*]] = stablehlo.multiply %[[A1]], %[[A2]]
// CHECK: mpmd.return %[[V3]], %[[V4]]
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]]#0, %[[V0]]#1
// CALL-LABEL: func.func @unique(
// CALL: %[[V0:.*]]:2 = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0, %arg0)
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V0]]#0, %[[V0]]#1
func.func @unique(%a: !m0) -> (!m0, !m0) attributes {topology = #topology} {
  %x:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%a, %a) (%x_0: tensor<4x8xf32>, %x_1: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_1 : tensor<4x8xf32>
    %y_o = stablehlo.multiply %x_0, %x_1 : tensor<4x8xf32>
    mpmd.return %x_o, %y_o : tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m0, !m0) -> (!m0, !m0)
  return %x#0, %x#1 : !m0, !m0
}

// CHECK-LABEL: func.func private @callee(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=[]> (%arg0) {mpmd.inferred_by = ["uniquify"]} (%[[A1:.*]]:
// CHECK: mpmd.return %[[A1]]
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]]
// CALL-LABEL: func.func private @callee(
// CALL: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=[]> (%arg0) {mpmd.inferred_by = ["uniquify"]} (%[[A1:.*]]:
// CALL: mpmd.return %[[A1]]
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V0]]
func.func private @callee(%a: !m0) -> !m0 attributes {topology = #topology} {
  return %a : !m0
}
