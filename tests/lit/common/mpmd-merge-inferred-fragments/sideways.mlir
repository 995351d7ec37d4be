// The next fragment of the mesh merges, dependent or not.
// RUN: mpmd-opt %s -mpmd-merge-inferred-fragments='merge-sideways=true' | FileCheck %s
// RUN: mpmd-opt %s -mpmd-outline-fragments -mpmd-merge-inferred-fragments='merge-sideways=true' | FileCheck %s --check-prefix=CALL

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>, <"m2": <["x"=2]>>>

// CHECK-LABEL: func.func @independent(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m1", origin=["g"]> (%arg2) (
// CHECK: %[[V2:.*]]:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0, %arg1) (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V2]]#0, %[[V2]]#1, %[[V0]]
// CALL-LABEL: func.func @independent(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m1", origin=["g"]> @{{.*}}(%arg2)
// CALL: %[[V1:.*]]:2 = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0, %arg1)
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V1]]#0, %[[V1]]#1, %[[V0]]
func.func @independent(%a: !m0, %b: !m0, %c: !m1) -> (!m0, !m0, !m1) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=[]> (%a, %b) (%x_0: tensor<4x8xf32>, %x_1: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_1 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  %w = mpmd.fragment<mesh="m1", origin=["g"]> (%c) (%w_0: tensor<4x8xf32>) {
    %w_o = stablehlo.add %w_0, %w_0 : tensor<4x8xf32>
    mpmd.return %w_o : tensor<4x8xf32>
  } : (!m1) -> !m1
  %y = mpmd.fragment<mesh="m0", origin=["f"]> (%b, %b) (%y_0: tensor<4x8xf32>, %y_1: tensor<4x8xf32>) {
    %y_o = stablehlo.add %y_0, %y_1 : tensor<4x8xf32>
    mpmd.return %y_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  return %x, %y, %w : !m0, !m0, !m1
}

// CHECK-LABEL: func.func @user_neighbours(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0, %arg1) (
// CHECK: %[[V2:.*]] = mpmd.fragment<mesh="m0", origin=["g"]> (%arg1, %arg1) (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]], %[[V2]]
// CALL-LABEL: func.func @user_neighbours(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0, %arg1)
// CALL: %[[V1:.*]] = mpmd.fragment_call<mesh="m0", origin=["g"]> @{{.*}}(%arg1, %arg1)
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V0]], %[[V1]]
func.func @user_neighbours(%a: !m0, %b: !m0) -> (!m0, !m0) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=["f"]> (%a, %b) (%x_0: tensor<4x8xf32>, %x_1: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_1 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  %y = mpmd.fragment<mesh="m0", origin=["g"]> (%b, %b) (%y_0: tensor<4x8xf32>, %y_1: tensor<4x8xf32>) {
    %y_o = stablehlo.add %y_0, %y_1 : tensor<4x8xf32>
    mpmd.return %y_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  return %x, %y : !m0, !m0
}

// CHECK-LABEL: func.func @last_of_its_mesh(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=[]> (%arg0) (
// CHECK: %[[V2:.*]] = mpmd.fragment<mesh="m1", origin=[]> (%arg1) (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]], %[[V2]]
// CALL-LABEL: func.func @last_of_its_mesh(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m0", origin=[]> @{{.*}}(%arg0)
// CALL: %[[V1:.*]] = mpmd.fragment_call<mesh="m1", origin=[]> @{{.*}}(%arg1)
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V0]], %[[V1]]
func.func @last_of_its_mesh(%a: !m0, %c: !m1) -> (!m0, !m1) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=[]> (%a) (%x_0: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_0 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  %y = mpmd.fragment<mesh="m1", origin=[]> (%c) (%y_0: tensor<4x8xf32>) {
    %y_o = stablehlo.add %y_0, %y_0 : tensor<4x8xf32>
    mpmd.return %y_o : tensor<4x8xf32>
  } : (!m1) -> !m1
  return %x, %y : !m0, !m1
}
