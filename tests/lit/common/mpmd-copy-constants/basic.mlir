// RUN: mpmd-opt %s -mpmd-copy-constants | FileCheck %s
// RUN: mpmd-opt %s -mpmd-outline-fragments -mpmd-copy-constants | FileCheck %s --check-prefix=CALL

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>, <"m2": <["x"=2]>>>

// CHECK-LABEL: func.func @transferred(
// CHECK: %[[V0:.*]]:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0) (%[[A1:.*]]:
// CHECK: %[[V2:.*]] = stablehlo.constant dense<1.000000e+00>
// CHECK: %[[V3:.*]] = stablehlo.add %[[A1]], %[[V2]]
// CHECK: mpmd.return %[[V3]], %[[V2]]
// CHECK: %[[V4:.*]] = mpmd.transfer %[[V0]]#1 : ({{.*}}"m0"{{.*}}) -> {{.*}}"m2"
// CHECK: %[[V5:.*]] = mpmd.transfer %[[V4]] : ({{.*}}"m2"{{.*}}) -> {{.*}}"m1"
// CHECK: %[[V6:.*]] = mpmd.fragment<mesh="m1", origin=["g"]> (%arg1, %[[V5]]) (%[[A7:.*]]: {{.*}}, %[[A8:.*]]:
// CHECK: %[[V9:.*]] = stablehlo.constant dense<1.000000e+00>
// CHECK: %[[V10:.*]] = stablehlo.multiply %[[A7]], %[[V9]]
// CHECK: mpmd.return %[[V10]]
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]]#0, %[[V6]]
// CALL-LABEL: func.func @transferred(
// CALL: %[[V0:.*]]:2 = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0)
// CALL: %[[V1:.*]] = mpmd.transfer %[[V0]]#1 : ({{.*}}"m0"{{.*}}) -> {{.*}}"m2"
// CALL: %[[V2:.*]] = mpmd.transfer %[[V1]] : ({{.*}}"m2"{{.*}}) -> {{.*}}"m1"
// CALL: %[[V3:.*]] = mpmd.fragment_call<mesh="m1", origin=["g"]> @{{.*}}(%arg1, %[[V2]])
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V0]]#0, %[[V3]]
func.func @transferred(%a: !m0, %b: !m1) -> (!m0, !m1) attributes {topology = #topology} {
  %x:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%p: tensor<4x8xf32>) {
    %c = stablehlo.constant dense<1.0> : tensor<4x8xf32>
    %r = stablehlo.add %p, %c : tensor<4x8xf32>
    mpmd.return %r, %c : tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m0) -> (!m0, !m0)
  %t = mpmd.transfer %x#1 : (!m0) -> !m2
  %s = mpmd.transfer %t : (!m2) -> !m1
  %y = mpmd.fragment<mesh="m1", origin=["g"]> (%b, %s) (%p: tensor<4x8xf32>, %q: tensor<4x8xf32>) {
    %r = stablehlo.multiply %p, %q : tensor<4x8xf32>
    mpmd.return %r : tensor<4x8xf32>
  } : (!m1, !m1) -> !m1
  return %x#0, %y : !m0, !m1
}

// CHECK-LABEL: func.func @same_mesh(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=["f"]> () ()
// CHECK: %[[V1:.*]] = stablehlo.constant dense<1.000000e+00>
// CHECK: mpmd.return %[[V1]]
// CHECK: %[[V2:.*]] = mpmd.fragment<mesh="m0", origin=["g"]> (%arg0, %[[V0]], %[[V0]]) (%[[A3:.*]]: {{.*}}, %[[A4:.*]]: {{.*}}, %[[A5:.*]]:
// CHECK: %[[V6:.*]] = stablehlo.constant dense<1.000000e+00>
// CHECK: %[[V7:.*]] = stablehlo.constant dense<1.000000e+00>
// CHECK: %[[V8:.*]] = stablehlo.multiply %[[A3]], %[[V7]]
// CHECK: %[[V9:.*]] = stablehlo.add %[[V8]], %[[V6]]
// CHECK: mpmd.return %[[V9]]
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V2]]
// CALL-LABEL: func.func @same_mesh(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}()
// CALL: %[[V1:.*]] = mpmd.fragment_call<mesh="m0", origin=["g"]> @{{.*}}(%arg0, %[[V0]], %[[V0]])
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V1]]
func.func @same_mesh(%a: !m0) -> !m0 attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=["f"]> () () {
    %c = stablehlo.constant dense<1.0> : tensor<4x8xf32>
    mpmd.return %c : tensor<4x8xf32>
  } : () -> !m0
  %y = mpmd.fragment<mesh="m0", origin=["g"]> (%a, %x, %x) (%p: tensor<4x8xf32>, %q: tensor<4x8xf32>, %o: tensor<4x8xf32>) {
    %r = stablehlo.multiply %p, %q : tensor<4x8xf32>
    %s = stablehlo.add %r, %o : tensor<4x8xf32>
    mpmd.return %s : tensor<4x8xf32>
  } : (!m0, !m0, !m0) -> !m0
  return %y : !m0
}

// What is computed from constants is not copied.
// CHECK-LABEL: func.func @computed(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=["f"]> () ()
// CHECK: %[[V1:.*]] = stablehlo.constant dense<1.000000e+00>
// CHECK: %[[V2:.*]] = stablehlo.broadcast_in_dim %[[V1]], dims = []
// CHECK: mpmd.return %[[V2]]
// CHECK: %[[V3:.*]] = mpmd.fragment<mesh="m0", origin=["g"]> (%arg0, %[[V0]]) (%[[A4:.*]]: {{.*}}, %[[A5:.*]]:
// CHECK: %[[V6:.*]] = stablehlo.multiply %[[A4]], %[[A5]]
// CHECK: mpmd.return %[[V6]]
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V3]]
// CALL-LABEL: func.func @computed(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}()
// CALL: %[[V1:.*]] = mpmd.fragment_call<mesh="m0", origin=["g"]> @{{.*}}(%arg0, %[[V0]])
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V1]]
func.func @computed(%a: !m0) -> !m0 attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=["f"]> () () {
    %c = stablehlo.constant dense<1.0> : tensor<f32>
    %d = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    mpmd.return %d : tensor<4x8xf32>
  } : () -> !m0
  %y = mpmd.fragment<mesh="m0", origin=["g"]> (%a, %x) (%p: tensor<4x8xf32>, %q: tensor<4x8xf32>) {
    %r = stablehlo.multiply %p, %q : tensor<4x8xf32>
    mpmd.return %r : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  return %y : !m0
}
