// RUN: mpmd-opt %s -mpmd-infer-mesh-assign-mesh-func-leaves | FileCheck %s

!t = tensor<4x8xf32>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>, <"m3": <["x"=2]>>>

// CHECK-LABEL: func @outputs_and_unused
// CHECK-SAME:    (%arg0: !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>, %arg1: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>)
// CHECK-SAME:    -> (!mpmd.mesh_tensor<"m2", tensor<4x8xf32>>, !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>)
func.func @outputs_and_unused(%a: !m2, %unused: !t) -> (!t, !t) attributes {topology = #topology} {
  // CHECK-NEXT: %[[U:.*]] = mpmd.unassign
  %0 = mpmd.unassign {mpmd.src_set = #mpmd.meshes_with_origins<"m2">} %a : (!m2) -> !t
  // CHECK-NEXT: %[[S:.*]] = stablehlo.sine %[[U]] {mpmd.src_set = #mpmd.meshes_with_origins<"m2">} : tensor
  %1 = stablehlo.sine %0 {mpmd.src_set = #mpmd.meshes_with_origins<"m2">, mpmd.use_set = #mpmd.meshes_with_origins<"m2">} : !t
  // CHECK-NEXT: %[[C:.*]] = stablehlo.cosine
  // CHECK-NEXT: mpmd.assign {origin = "inferred_unused"} %[[C]] : {{.*}} -> !mpmd.mesh_tensor<"m2"
  %2 = stablehlo.cosine %0 {mpmd.src_set = #mpmd.meshes_with_origins<"m3", "m2">} : !t
  // CHECK-NEXT: %[[K:.*]] = stablehlo.constant
  %3 = stablehlo.constant dense<1.0> : !t
  // CHECK-NEXT: %[[R0:.*]] = mpmd.assign {origin = "inferred_out"} %[[S]]
  // CHECK-NEXT: %[[R1:.*]] = mpmd.assign {origin = "inferred_out"} %[[K]]
  // CHECK-NEXT: return %[[R0]], %[[R1]]
  return %1, %3 : !t, !t
}

// CHECK-LABEL: func @operands_of_reduce_and_broadcast
func.func @operands_of_reduce_and_broadcast(%a: !m1, %b: !t) -> !m2 attributes {topology = #topology} {
  // CHECK-NEXT: %[[U:.*]] = mpmd.unassign
  %0 = mpmd.unassign {mpmd.src_set = #mpmd.meshes_with_origins<"m1">} %a : (!m1) -> !t
  // CHECK-NEXT: %[[A:.*]] = mpmd.assign {origin = "reduce"} %[[U]] : {{.*}} -> !mpmd.mesh_tensor<"m1"
  // CHECK-NEXT: %[[A1:.*]] = mpmd.unassign %[[A]]
  // CHECK-NEXT: %[[B:.*]] = mpmd.assign {origin = "reduce"} %arg1 : {{.*}} -> !mpmd.mesh_tensor<"m2"
  // CHECK-NEXT: %[[B1:.*]] = mpmd.unassign %[[B]]
  // CHECK-NEXT: %[[R:.*]] = mpmd.reduce<add> %[[A1]], %[[B1]]
  %1 = mpmd.reduce<add> {mpmd.use_set = #mpmd.meshes_with_origins<"m2">} %0, %b : (!t, !t) -> !t
  %2 = mpmd.assign %1 : (!t) -> !m2
  // CHECK:      mpmd.assign {origin = "broadcast"} %[[R]] : {{.*}} -> !mpmd.mesh_tensor<"m1"
  %3 = mpmd.broadcast %1 : !t
  return %2 : !m2
}

// CHECK-LABEL: func @resultless
func.func @resultless(%a: !m2) -> !m2 attributes {topology = #topology} {
  // CHECK-NEXT: %[[U:.*]] = mpmd.unassign
  // CHECK-NEXT: %[[A:.*]] = mpmd.assign %[[U]] : {{.*}} -> !mpmd.mesh_tensor<"m2"
  // CHECK-NEXT: mpmd.fragment<mesh="m2", origin=[]> (%[[A]]) {mpmd.inferred_by = ["infer_mesh_wrap_resultless_ops"]}
  // CHECK-NEXT:   sdy.sharding_group
  // CHECK-NEXT:   mpmd.return
  %0 = mpmd.unassign {mpmd.src_set = #mpmd.meshes_with_origins<"m2">} %a : (!m2) -> !t
  sdy.sharding_group %0 group_id = 0 : !t
  return %a : !m2
}

// CHECK-LABEL: func @calls
func.func @calls(%a: !t) -> !m1 attributes {topology = #topology} {
  %0:2 = mpmd.call @callee(%a, %a) : (!t, !t) -> (!t, !m1)
  return %0#1 : !m1
}

// CHECK-LABEL: func private @callee
// CHECK-SAME:    mpmd.use_set = #mpmd.meshes_with_origins<"m1"["inferred_unused_callee_in"]>
// CHECK-SAME:    mpmd.use_set = #mpmd.meshes_with_origins<"m1"["inferred_unused_callee_out"]>
func.func private @callee(%unused: !t, %a: !t) -> (!t, !m1) attributes {topology = #topology} {
  %0 = stablehlo.sine %a : !t
  %1 = mpmd.assign %a : (!t) -> !m1
  return %0, %1 : !t, !m1
}
