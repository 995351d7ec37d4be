// RUN: mpmd-opt %s -mpmd-populate-unreduced-out-sharding | FileCheck %s

!m1_4x8 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2, "y"=2]>>>
sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func @partial_sum_leaves_fragment
// CHECK: out_shardings=[<@mesh, [{"x"}, {}], unreduced={"y"}>, <@mesh, [{"x"}, {}]>]
func.func @partial_sum_leaves_fragment(%arg0: !m1_4x8) -> (!m1_4x8, !m1_4x8) attributes {topology = #topology} {
  %0:2 = mpmd.fragment<mesh="m1", origin=["f"], in_shardings=[<@mesh, [{"x"}, {}]>], out_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>]> (%arg0) (%arg1: tensor<4x8xf32>) {
    %1 = sdy.sharding_constraint %arg1 <@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<4x8xf32>
    mpmd.return %1, %arg1 : tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m1_4x8) -> (!m1_4x8, !m1_4x8)
  return %0#0, %0#1 : !m1_4x8, !m1_4x8
}

// CHECK-LABEL: func @no_shardings_yet
// CHECK: out_shardings=[<@mesh, [{}, {}], unreduced={"y"}>, <@mesh, [{}, {}]>]
func.func @no_shardings_yet(%arg0: !m1_4x8) -> (!m1_4x8, !m1_4x8) attributes {topology = #topology} {
  %0:2 = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0) (%arg1: tensor<4x8xf32>) {
    %1 = sdy.sharding_constraint %arg1 <@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<4x8xf32>
    mpmd.return %1, %arg1 : tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m1_4x8) -> (!m1_4x8, !m1_4x8)
  return %0#0, %0#1 : !m1_4x8, !m1_4x8
}

// A sum over the partial values is none itself.
// CHECK-LABEL: func @used_inside
// CHECK: out_shardings=[<@mesh, [{"x"}, {}]>]
func.func @used_inside(%arg0: !m1_4x8) -> !m1_4x8 attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"], in_shardings=[<@mesh, [{"x"}, {}]>], out_shardings=[<@mesh, [{"x"}, {}]>]> (%arg0) (%arg1: tensor<4x8xf32>) {
    %1 = sdy.sharding_constraint %arg1 <@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<4x8xf32>
    %2 = stablehlo.add %1, %1 : tensor<4x8xf32>
    mpmd.return %2 : tensor<4x8xf32>
  } : (!m1_4x8) -> !m1_4x8
  return %0 : !m1_4x8
}

// CHECK-LABEL: func @calls
// CHECK: @partial(%arg0) {in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}], unreduced={"y"}>]>}
func.func @calls(%arg0: !m1_4x8) -> !m1_4x8 attributes {topology = #topology} {
  %0 = mpmd.fragment_call<mesh="m1", origin=["f"]> @partial(%arg0) {in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (!m1_4x8) -> !m1_4x8
  return %0 : !m1_4x8
}
func.func private @partial(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2, "y"=2]>} {
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
