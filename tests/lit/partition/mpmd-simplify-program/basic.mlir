// RUN: mpmd-opt %s -mpmd-simplify-program | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m1_x = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>
sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func @operands_and_results
// CHECK-NEXT: %[[F:.*]] = mpmd.fragment<mesh="m1", origin=["f"], stage=1> (%arg0, %arg1) {call_counter = 0 : ui32} (%[[A:.*]]: tensor<4x8xf32>, %[[B:.*]]: tensor<4x8xf32>) {
// CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %[[A]], %[[B]]
// CHECK-NEXT: mpmd.return %[[SUM]] : tensor<4x8xf32>
// CHECK: return %[[F]], %[[F]], %arg0
func.func @operands_and_results(%arg0: !m1, %arg1: !m1) -> (!m1, !m1, !m1) attributes {topology = #topology} {
  %0:4 = mpmd.fragment<mesh="m1", origin=["f"], stage=1> (%arg0, %arg0, %arg1) {call_counter = 0 : ui32} (%arg2: tensor<4x8xf32>, %arg3: tensor<4x8xf32>, %arg4: tensor<4x8xf32>) {
    %1 = stablehlo.add %arg3, %arg4 : tensor<4x8xf32>
    %2 = stablehlo.add %arg3, %arg4 : tensor<4x8xf32>
    %3 = stablehlo.multiply %arg3, %arg4 : tensor<4x8xf32>
    mpmd.return %1, %2, %arg2, %3 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m1, !m1, !m1) -> (!m1, !m1, !m1, !m1)
  return %0#0, %0#1, %0#2 : !m1, !m1, !m1
}

// What only looks idle reshards; a value can leave with two shardings.
// CHECK-LABEL: func @resharding_stays
// CHECK: %[[R:.*]] = mpmd.fragment<mesh="m1", origin=[]> (%arg0)
// CHECK: %[[F:.*]]:2 = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0)
// CHECK: mpmd.return %[[SUM:.*]], %[[SUM]]
// CHECK: return %[[R]], %[[F]]#0, %[[F]]#1
func.func @resharding_stays(%arg0: !m1) -> (!m1_x, !m1_x, !m1) attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=[]> (%arg0) (%arg1: tensor<4x8xf32>) {
    mpmd.return %arg1 : tensor<4x8xf32>
  } : (!m1) -> !m1_x
  %1:2 = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0) (%arg1: tensor<4x8xf32>) {
    %2 = stablehlo.add %arg1, %arg1 : tensor<4x8xf32>
    mpmd.return %2, %2 : tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m1) -> (!m1_x, !m1)
  return %0, %1#0, %1#1 : !m1_x, !m1_x, !m1
}

// CHECK-LABEL: func @unused
// CHECK-NEXT: return %arg0
func.func @unused(%arg0: !m1) -> !m1 attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0) (%arg1: tensor<4x8xf32>) {
    %2 = stablehlo.add %arg1, %arg1 : tensor<4x8xf32>
    mpmd.return %2 : tensor<4x8xf32>
  } : (!m1) -> !m1
  %1 = mpmd.transfer %0 : (!m1) -> !m2
  return %arg0 : !m1
}

// Returned values stay apart, and so do equal fragments.
// CHECK-LABEL: func @equal_fragments_stay
// CHECK: %[[F:.*]] = mpmd.fragment
// CHECK: %[[G:.*]] = mpmd.fragment
// CHECK: return %[[F]], %[[G]]
func.func @equal_fragments_stay(%arg0: !m1) -> (!m1, !m1) attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0) (%arg1: tensor<4x8xf32>) {
    %2 = stablehlo.tanh %arg1 : tensor<4x8xf32>
    mpmd.return %2 : tensor<4x8xf32>
  } : (!m1) -> !m1
  %1 = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0) (%arg1: tensor<4x8xf32>) {
    %2 = stablehlo.tanh %arg1 : tensor<4x8xf32>
    mpmd.return %2 : tensor<4x8xf32>
  } : (!m1) -> !m1
  return %0, %1 : !m1, !m1
}

// Nothing uses the result, but the body calls out.
// CHECK-LABEL: func @effects_stay
// CHECK: mpmd.fragment<mesh="m1", origin=["f"]> (%arg0)
func.func @effects_stay(%arg0: !m1) -> !m1 attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0) (%arg1: tensor<4x8xf32>) {
    %2 = stablehlo.custom_call @callback(%arg1) {has_side_effect = true} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    mpmd.return %2 : tensor<4x8xf32>
  } : (!m1) -> !m1
  return %arg0 : !m1
}

// CHECK-LABEL: func @calls
// CHECK-NEXT: %[[F:.*]] = mpmd.fragment_call<mesh="m1", origin=["f"]> @[[NAME:f.*]](%arg0) {call_counter = 0 : ui32}
// CHECK-NEXT: %[[G:.*]] = mpmd.fragment_call<mesh="m1", origin=["f"]> @[[NAME]](%[[F]]) {call_counter = 1 : ui32}
// CHECK-NEXT: return %[[G]], %[[F]]
func.func @calls(%arg0: !m1) -> (!m1, !m1) attributes {topology = #topology} {
  %0:3 = mpmd.fragment_call<mesh="m1", origin=["f"]> @f(%arg0, %arg0) {call_counter = 0 : ui32} : (!m1, !m1) -> (!m1, !m1, !m1)
  %1:3 = mpmd.fragment_call<mesh="m1", origin=["f"]> @f(%0#0, %0#0) {call_counter = 1 : ui32} : (!m1, !m1) -> (!m1, !m1, !m1)
  return %1#0, %1#2 : !m1, !m1
}
// CHECK: func private @[[NAME]](%[[A:.*]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %[[A]], %[[A]]
// CHECK-NEXT: return %[[SUM]]
// CHECK-NOT: func.func private
func.func private @f(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  %0 = stablehlo.add %arg0, %arg1 : tensor<4x8xf32>
  %1 = stablehlo.tanh %0 : tensor<4x8xf32>
  return %0, %1, %arg0 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
