// The first consumer that allows it merges.
// RUN: mpmd-opt %s -mpmd-merge-inferred-fragments='merge-any-consumer=true' | FileCheck %s
// RUN: mpmd-opt %s -mpmd-outline-fragments -mpmd-merge-inferred-fragments='merge-any-consumer=true' | FileCheck %s --check-prefix=CALL

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>, <"m2": <["x"=2]>>>

// CHECK-LABEL: func.func @second_consumer(
// CHECK: %[[V0:.*]]:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0, %arg1) (
// CHECK: %[[V3:.*]] = mpmd.fragment<mesh="m0", origin=["g"]> (%[[V0]]#0, %arg1) (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V3]], %[[V0]]#1
// CALL-LABEL: func.func @second_consumer(
// CALL: %[[V0:.*]]:2 = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0, %arg1)
// CALL: %[[V1:.*]] = mpmd.fragment_call<mesh="m0", origin=["g"]> @{{.*}}(%[[V0]]#0, %arg1)
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V1]], %[[V0]]#1
func.func @second_consumer(%a: !m0, %b: !m0) -> (!m0, !m0) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=["f"]> (%a, %b) (%x_0: tensor<4x8xf32>, %x_1: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_1 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  %y = mpmd.fragment<mesh="m0", origin=["g"]> (%x, %b) (%y_0: tensor<4x8xf32>, %y_1: tensor<4x8xf32>) {
    %y_o = stablehlo.add %y_0, %y_1 : tensor<4x8xf32>
    mpmd.return %y_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  %z = mpmd.fragment<mesh="m0", origin=[]> (%x, %b) (%z_0: tensor<4x8xf32>, %z_1: tensor<4x8xf32>) {
    %z_o = stablehlo.add %z_0, %z_1 : tensor<4x8xf32>
    mpmd.return %z_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  return %y, %z : !m0, !m0
}

// CHECK-LABEL: func.func @no_consumer_allows_it(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0, %arg1) (
// CHECK: %[[V2:.*]] = mpmd.fragment<mesh="m0", origin=["g"]> (%[[V0]], %arg1) (
// CHECK: %[[V4:.*]] = mpmd.fragment<mesh="m0", origin=["h"]> (%[[V0]], %arg1) (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V2]], %[[V4]]
// CALL-LABEL: func.func @no_consumer_allows_it(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0, %arg1)
// CALL: %[[V1:.*]] = mpmd.fragment_call<mesh="m0", origin=["g"]> @{{.*}}(%[[V0]], %arg1)
// CALL: %[[V2:.*]] = mpmd.fragment_call<mesh="m0", origin=["h"]> @{{.*}}(%[[V0]], %arg1)
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V1]], %[[V2]]
func.func @no_consumer_allows_it(%a: !m0, %b: !m0) -> (!m0, !m0) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=["f"]> (%a, %b) (%x_0: tensor<4x8xf32>, %x_1: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_1 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  %y = mpmd.fragment<mesh="m0", origin=["g"]> (%x, %b) (%y_0: tensor<4x8xf32>, %y_1: tensor<4x8xf32>) {
    %y_o = stablehlo.add %y_0, %y_1 : tensor<4x8xf32>
    mpmd.return %y_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  %z = mpmd.fragment<mesh="m0", origin=["h"]> (%x, %b) (%z_0: tensor<4x8xf32>, %z_1: tensor<4x8xf32>) {
    %z_o = stablehlo.add %z_0, %z_1 : tensor<4x8xf32>
    mpmd.return %z_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  return %y, %z : !m0, !m0
}
