// RUN: mpmd-opt %s -mpmd-sharding-propagation-pipeline | FileCheck %s

!m1_4x8 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2_4x8 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2, "y"=2]>>, <"m2": <["x"=2, "y"=2]>>>
sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func @user_shardings_win
// CHECK-SAME: (%arg0: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>>)
// CHECK-SAME: -> (!mpmd.mesh_tensor<"m2", tensor<4x8xf32>, sharding=<@mesh, [{}, {"x"}]>>, !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{}, {"y"}]>>)
func.func @user_shardings_win(%arg0: !m1_4x8 {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (!m2_4x8 {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, !m1_4x8 {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>})
    attributes {topology = #topology} {
  // The transfer copies; the fragment behind it reshards.
  // CHECK: mpmd.transfer %{{.*}} : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>>) -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>>
  // CHECK: mpmd.fragment<mesh="m2", origin=["g"]> {{.*}} {
  // CHECK: } : (!mpmd.mesh_tensor<"m2", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>>) -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>, sharding=<@mesh, [{}, {"x"}]>>
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0) (%arg1: tensor<4x8xf32>) {
    %3 = stablehlo.constant dense<1.0> : tensor<4x8xf32>
    %4 = stablehlo.add %arg1, %3 : tensor<4x8xf32>
    mpmd.return %4 : tensor<4x8xf32>
  } : (!m1_4x8) -> !m1_4x8
  %1 = mpmd.transfer %0 : (!m1_4x8) -> !m2_4x8
  %2 = mpmd.fragment<mesh="m2", origin=["g"]> (%1) (%arg1: tensor<4x8xf32>) {
    %3 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
    %4 = stablehlo.reshape %3 : (tensor<8x4xf32>) -> tensor<32xf32>
    %5 = stablehlo.reshape %4 : (tensor<32xf32>) -> tensor<4x8xf32>
    mpmd.return %5 : tensor<4x8xf32>
  } : (!m2_4x8) -> !m2_4x8
  // CHECK: return
  return %2, %arg0 : !m2_4x8, !m1_4x8
}

// CHECK-LABEL: func @no_user_shardings
// CHECK-SAME: (%arg0: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>> attributes
func.func @no_user_shardings(%arg0: !m1_4x8) -> !m1_4x8 attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0) (%arg1: tensor<4x8xf32>) {
    %1 = stablehlo.tanh %arg1 : tensor<4x8xf32>
    mpmd.return %1 : tensor<4x8xf32>
  } : (!m1_4x8) -> !m1_4x8
  return %0 : !m1_4x8
}
