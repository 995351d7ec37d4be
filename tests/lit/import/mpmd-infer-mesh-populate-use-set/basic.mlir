// RUN: mpmd-opt %s -mpmd-infer-mesh-populate-use-set | FileCheck %s

!t = tensor<4x8xf32>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>

// Use sets add up over users, the last user first.
// CHECK-LABEL: func @union_of_users
// CHECK-SAME:    %[[A:.*]]: tensor<4x8xf32> {mpmd.use_set = #mpmd.meshes_with_origins<"m2"["g"], "m1"["f"]>}
func.func @union_of_users(%a: !t) -> (!m1, !m2) attributes {topology = #topology} {
  // CHECK: %[[S:.*]] = stablehlo.sine %[[A]] {mpmd.use_set = #mpmd.meshes_with_origins<"m2"["g"], "m1"["f"]>}
  %0 = stablehlo.sine %a : !t
  // CHECK: mpmd.assign {mpmd.use_set = #mpmd.meshes_with_origins<"m1"["f"]>, origin = "f"} %[[S]]
  %1 = mpmd.assign {origin = "f"} %0 : (!t) -> !m1
  // CHECK: stablehlo.cosine %[[S]] {mpmd.use_set = #mpmd.meshes_with_origins<"m2"["g"]>}
  %2 = stablehlo.cosine %0 : !t
  %3 = mpmd.assign {origin = "g"} %2 : (!t) -> !m2
  // CHECK: stablehlo.tanh %[[S]] : tensor
  %4 = stablehlo.tanh %0 : !t
  return %1, %3 : !m1, !m2
}

// A broadcast brings its operand to its users, so the operand is not needed there.
// CHECK-LABEL: func @stops_at_broadcast
// CHECK-SAME:    %[[A:[a-z0-9]*]]: tensor<4x8xf32>)
func.func @stops_at_broadcast(%a: !t) -> !m1 attributes {topology = #topology} {
  // CHECK: mpmd.broadcast {mpmd.use_set = #mpmd.meshes_with_origins<"m1">} %[[A]]
  %0 = mpmd.broadcast %a : !t
  // CHECK: mpmd.broadcast {mpmd.use_set = #mpmd.meshes_with_origins<"m1">}
  %1 = mpmd.broadcast %0 : !t
  %2 = mpmd.assign %1 : (!t) -> !m1
  return %2 : !m1
}

// What a region uses is used by the operation around it.
// CHECK-LABEL: func @captured
// CHECK-SAME:    mpmd.use_set = #mpmd.meshes_with_origins<"m2">
// CHECK-SAME:    mpmd.use_set = #mpmd.meshes_with_origins<"m2">
func.func @captured(%a: !t, %i: tensor<i32>) -> !m2 attributes {topology = #topology} {
  // CHECK: stablehlo.sine %{{.*}} {mpmd.use_set = #mpmd.meshes_with_origins<"m2">}
  %0 = stablehlo.sine %a : !t
  %1 = "stablehlo.case"(%i) ({
    stablehlo.return %0 : !t
  }, {
    stablehlo.return %a : !t
  }) : (tensor<i32>) -> !t
  %2 = mpmd.assign %1 : (!t) -> !m2
  return %2 : !m2
}

// CHECK-LABEL: func @no_topology
// CHECK-NEXT:    stablehlo.sine %arg0 : tensor
func.func @no_topology(%a: !t) -> !t {
  %0 = stablehlo.sine %a : !t
  return %0 : !t
}
