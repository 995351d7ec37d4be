// RUN: mpmd-opt %s -split-input-file -mpmd-propagate-shardings | FileCheck %s

// The second mesh has no "y", and two devices along "x" for the four of the first.

!m1_4x8 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2_4x8 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=4, "y"=2]>>, <"m2": <["x"=2]>>>
sdy.mesh @m1 = <["x"=4, "y"=2]>
sdy.mesh @m2 = <["x"=2]>

// CHECK-LABEL: func @by_axis_name
// CHECK: mpmd.fragment<mesh="m1", origin=["f"], in_shardings=[<@m1, [{"x"}, {"y"}]>], out_shardings=[<@m1, [{"x"}, {"y"}]>]>
// CHECK: mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@m2, [{"x"}, {}]>]>}
// CHECK: mpmd.fragment<mesh="m2", origin=["g"], in_shardings=[<@m2, [{"x"}, {}]>], out_shardings=[<@m2, [{"x"}, {}]>]>
func.func @by_axis_name(%arg0: !m1_4x8 {sdy.sharding = #sdy.sharding<@m1, [{"x"}, {"y"}]>}) -> !m2_4x8
    attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0) (%arg1: tensor<4x8xf32>) {
    %3 = stablehlo.tanh %arg1 : tensor<4x8xf32>
    mpmd.return %3 : tensor<4x8xf32>
  } : (!m1_4x8) -> !m1_4x8
  %1 = mpmd.transfer %0 : (!m1_4x8) -> !m2_4x8
  %2 = mpmd.fragment<mesh="m2", origin=["g"]> (%1) (%arg1: tensor<4x8xf32>) {
    %3 = stablehlo.tanh %arg1 : tensor<4x8xf32>
    mpmd.return %3 : tensor<4x8xf32>
  } : (!m2_4x8) -> !m2_4x8
  return %2 : !m2_4x8
}

// Two rows can be split in two but not in four.
// CHECK-LABEL: func @too_few_rows
// CHECK: mpmd.fragment<mesh="m2", origin=["g"], in_shardings=[<@m2, [{"x"}]>], out_shardings=[<@m2, [{"x"}]>]>
// CHECK: mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@m1, [{}]>]>}
func.func @too_few_rows(%arg0: !mpmd.mesh_tensor<"m2", tensor<2xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<2xf32>>
    attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m2", origin=["g"]> (%arg0) (%arg1: tensor<2xf32>) {
    %2 = sdy.sharding_constraint %arg1 <@m2, [{"x"}]> : tensor<2xf32>
    mpmd.return %2 : tensor<2xf32>
  } : (!mpmd.mesh_tensor<"m2", tensor<2xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<2xf32>>
  %1 = mpmd.transfer %0 : (!mpmd.mesh_tensor<"m2", tensor<2xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<2xf32>>
  return %1 : !mpmd.mesh_tensor<"m1", tensor<2xf32>>
}
