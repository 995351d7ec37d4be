// RUN: mpmd-opt %s -mpmd-extract-reshards-from-inter-mesh-transfers | FileCheck %s

!m1_4x8 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2_4x8 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2, "y"=4]>>, <"m2": <["x"=2, "y"=4]>>>
sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func @consumer_reshards
// CHECK: mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
// CHECK-NEXT: mpmd.fragment<mesh="m2", origin=["g"], in_shardings=[<@mesh, [{"x"}, {}]>], out_shardings=[<@mesh, [{}, {"x"}]>]>
func.func @consumer_reshards(%arg0: !m1_4x8) -> !m2_4x8 attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"], in_shardings=[<@mesh, [{"x"}, {}]>], out_shardings=[<@mesh, [{"x"}, {}]>]> (%arg0) (%arg1: tensor<4x8xf32>) {
    mpmd.return %arg1 : tensor<4x8xf32>
  } : (!m1_4x8) -> !m1_4x8
  %1 = mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} %0 : (!m1_4x8) -> !m2_4x8
  %2 = mpmd.fragment<mesh="m2", origin=["g"], in_shardings=[<@mesh, [{}, {"x"}]>], out_shardings=[<@mesh, [{}, {"x"}]>]> (%1) (%arg1: tensor<4x8xf32>) {
    mpmd.return %arg1 : tensor<4x8xf32>
  } : (!m2_4x8) -> !m2_4x8
  return %2 : !m2_4x8
}

// Nothing on the consumer's side can reshard but a fragment for the purpose.
// CHECK-LABEL: func @returned
// CHECK: %[[TRANSFER:.*]] = mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
// CHECK-NEXT: %[[RESHARD:.*]] = mpmd.fragment<mesh="m2", origin=[], out_shardings=[<@mesh, [{}, {"x"}]>]> (%[[TRANSFER]]) {mpmd.inferred_by = ["extract_reshards"]}
// CHECK: return %[[RESHARD]]
func.func @returned(%arg0: !m1_4x8) -> !m2_4x8 attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"], in_shardings=[<@mesh, [{"x"}, {}]>], out_shardings=[<@mesh, [{"x"}, {}]>]> (%arg0) (%arg1: tensor<4x8xf32>) {
    mpmd.return %arg1 : tensor<4x8xf32>
  } : (!m1_4x8) -> !m1_4x8
  %1 = mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} %0 : (!m1_4x8) -> !m2_4x8
  return %1 : !m2_4x8
}

// Four shards are smaller than two: split them before the transfer.
// CHECK-LABEL: func @producer_reshards
// CHECK: mpmd.fragment<mesh="m1", origin=["f"], in_shardings=[<@mesh, [{"x"}, {}]>], out_shardings=[<@mesh, [{"y"}, {}]>]>
// CHECK: mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>}
func.func @producer_reshards(%arg0: !m1_4x8) -> !m2_4x8 attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"], in_shardings=[<@mesh, [{"x"}, {}]>], out_shardings=[<@mesh, [{"x"}, {}]>]> (%arg0) (%arg1: tensor<4x8xf32>) {
    mpmd.return %arg1 : tensor<4x8xf32>
  } : (!m1_4x8) -> !m1_4x8
  %1 = mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} %0 : (!m1_4x8) -> !m2_4x8
  return %1 : !m2_4x8
}

// CHECK-LABEL: func @producer_reshards_but_not_for_others
// CHECK: %[[F:.*]] = mpmd.fragment<mesh="m1", origin=["f"]{{.*}}out_shardings=[<@mesh, [{"y"}, {}]>]>
// CHECK: %[[BACK:.*]] = mpmd.fragment<mesh="m1", origin=[], out_shardings=[<@mesh, [{"x"}, {}]>]> (%[[F]])
// CHECK: %[[TRANSFER:.*]] = mpmd.transfer {{.*}} %[[F]]
// CHECK: return %[[TRANSFER]], %[[BACK]]
func.func @producer_reshards_but_not_for_others(%arg0: !m1_4x8) -> (!m2_4x8, !m1_4x8) attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"], in_shardings=[<@mesh, [{"x"}, {}]>], out_shardings=[<@mesh, [{"x"}, {}]>]> (%arg0) (%arg1: tensor<4x8xf32>) {
    mpmd.return %arg1 : tensor<4x8xf32>
  } : (!m1_4x8) -> !m1_4x8
  %1 = mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} %0 : (!m1_4x8) -> !m2_4x8
  return %1, %0 : !m2_4x8, !m1_4x8
}

// CHECK-LABEL: func @argument_is_split_first
// CHECK: %[[SPLIT:.*]] = mpmd.fragment<mesh="m1", origin=[], out_shardings=[<@mesh, [{"y"}, {}]>]> (%arg0)
// CHECK: mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} %[[SPLIT]]
func.func @argument_is_split_first(%arg0: !m1_4x8) -> !m2_4x8 attributes {topology = #topology} {
  %1 = mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} %arg0 : (!m1_4x8) -> !m2_4x8
  return %1 : !m2_4x8
}

// CHECK-LABEL: func @partial_sum_is_summed_first
// CHECK: %[[SUM:.*]] = mpmd.fragment<mesh="m1", origin=[]> (%{{.*}})
// CHECK: mpmd.transfer %[[SUM]]
func.func @partial_sum_is_summed_first(%arg0: !m1_4x8) -> !m2_4x8 attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"], in_shardings=[<@mesh, [{}, {}]>], out_shardings=[<@mesh, [{}, {}], unreduced={"x"}>]> (%arg0) (%arg1: tensor<4x8xf32>) {
    mpmd.return %arg1 : tensor<4x8xf32>
  } : (!m1_4x8) -> !m1_4x8
  %1 = mpmd.transfer %0 : (!m1_4x8) -> !m2_4x8
  return %1 : !m2_4x8
}

// CHECK-LABEL: func @nothing_to_do
// CHECK-NEXT: mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?}]>]>} %arg0
// CHECK-NEXT: mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} %arg1
// CHECK-NEXT: return
func.func @nothing_to_do(%arg0: !m1_4x8 {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: !m1_4x8)
    -> (!m2_4x8, !m2_4x8) attributes {topology = #topology} {
  %0 = mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?}]>]>} %arg0 : (!m1_4x8) -> !m2_4x8
  %1 = mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} %arg1 : (!m1_4x8) -> !m2_4x8
  return %0, %1 : !m2_4x8, !m2_4x8
}

// A program of calls gets a call of an identity function, one for all.
// CHECK-LABEL: func @calls
// CHECK: mpmd.fragment_call<mesh="m2", origin=[]> @reshard(%{{.*}}) {mpmd.inferred_by = ["extract_reshards"], out_shardings = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>}
// CHECK: mpmd.fragment_call<mesh="m2", origin=[]> @reshard(%{{.*}}) {mpmd.inferred_by = ["extract_reshards"], out_shardings = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>}
func.func @calls(%arg0: !m1_4x8) -> (!m2_4x8, !m2_4x8) attributes {topology = #topology} {
  %0:2 = mpmd.fragment_call<mesh="m1", origin=["f"]> @f(%arg0) {out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>, <@mesh, [{"y"}, {}]>]>} : (!m1_4x8) -> (!m1_4x8, !m1_4x8)
  %1 = mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} %0#0 : (!m1_4x8) -> !m2_4x8
  %2 = mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} %0#1 : (!m1_4x8) -> !m2_4x8
  return %1, %2 : !m2_4x8, !m2_4x8
}
// CHECK: func private @f
func.func private @f(%arg0: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) attributes {mesh_shape = #sdy.mesh<["x"=2, "y"=4]>} {
  return %arg0, %arg0 : tensor<4x8xf32>, tensor<4x8xf32>
}
// CHECK: func private @reshard(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2, "y"=4]>}
