// RUN: mpmd-opt %s -mpmd-infer-mesh-populate-src-set | FileCheck %s

!t = tensor<4x8xf32>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>

// A computation can be where all of its operands are; constants are everywhere.
// CHECK-LABEL: func @intersection
func.func @intersection(%a: !m1, %b: !m2, %c: !t {mpmd.use_set = #mpmd.meshes_with_origins<"m1">}) -> !m1 attributes {topology = #topology} {
  // CHECK: %[[A:.*]] = mpmd.unassign {mpmd.src_set = #mpmd.meshes_with_origins<"m1"["f"]>, origin = "f"}
  %0 = mpmd.unassign {origin = "f"} %a : (!m1) -> !t
  // CHECK: %[[B:.*]] = mpmd.unassign {mpmd.src_set = #mpmd.meshes_with_origins<"m2">}
  %1 = mpmd.unassign %b : (!m2) -> !t
  // CHECK: stablehlo.constant dense
  %cst = stablehlo.constant dense<1.0> : !t
  // CHECK: stablehlo.add %[[A]], %{{.*}} {mpmd.src_set = #mpmd.meshes_with_origins<"m1"["f"]>}
  %2 = stablehlo.add %0, %cst : !t
  // CHECK: stablehlo.subtract %[[A]], %{{.*}} {mpmd.src_set = #mpmd.meshes_with_origins<"m1"["f", "inferred_in"]>}
  %3 = stablehlo.subtract %0, %c : !t
  // CHECK: stablehlo.subtract %[[A]], %[[B]] {mpmd.src_set = #mpmd.meshes_with_origins<>}
  %4 = stablehlo.subtract %0, %1 : !t
  return %a : !m1
}

// A transfer makes its operand available on a second mesh.
// CHECK-LABEL: func @transfer
func.func @transfer(%a: !m1) -> !m2 attributes {topology = #topology} {
  // CHECK: mpmd.unassign {mpmd.src_set = #mpmd.meshes_with_origins<"m1"["f"], "m2"["transfer"]>, origin = "f"}
  %0 = mpmd.unassign {origin = "f"} %a : (!m1) -> !t
  %1 = mpmd.transfer %a : (!m1) -> !m2
  return %1 : !m2
}

// CHECK-LABEL: func @reductions
func.func @reductions(%a: !m1, %b: !m2) -> !m1 attributes {topology = #topology} {
  %0 = mpmd.unassign %a : (!m1) -> !t
  %1 = mpmd.unassign %b : (!m2) -> !t
  // CHECK: stablehlo.add %{{.*}} {mpmd.reduce = #mpmd.reduction<add>, mpmd.src_set = #mpmd.meshes_with_origins<"m1", "m2">}
  %2 = stablehlo.add %0, %1 : !t
  // CHECK: stablehlo.add %{{.*}} {mpmd.reduce = #mpmd.reduction<add>, mpmd.src_set = #mpmd.meshes_with_origins<"m1", "m2">}
  %3 = stablehlo.add %2, %0 : !t
  // CHECK: stablehlo.multiply %{{.*}} {mpmd.src_set = #mpmd.meshes_with_origins<"m1", "m2">}
  %4 = stablehlo.multiply %3, %3 : !t
  // CHECK: stablehlo.add %{{.*}} {mpmd.src_set = #mpmd.meshes_with_origins<"m1">}
  %5 = stablehlo.add %0, %0 : !t
  return %a : !m1
}

// A sum of a stack is a reduction in two halves.
// CHECK-LABEL: func @stack
func.func @stack(%a: !m1, %b: !m2) -> !m1 attributes {topology = #topology} {
  %0 = mpmd.unassign %a : (!m1) -> !t
  %1 = mpmd.unassign %b : (!m2) -> !t
  %2 = stablehlo.reshape %0 : (!t) -> tensor<1x4x8xf32>
  %3 = stablehlo.reshape %1 : (!t) -> tensor<1x4x8xf32>
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK: stablehlo.concatenate {{.*}} {mpmd.reduce = #mpmd.reduction<add>, mpmd.src_set = #mpmd.meshes_with_origins<"m1", "m2">}
  %4 = stablehlo.concatenate %2, %3, dim = 0 : (tensor<1x4x8xf32>, tensor<1x4x8xf32>) -> tensor<2x4x8xf32>
  // CHECK: stablehlo.reduce({{.*}} {mpmd.reduce = #mpmd.reduction<add>, mpmd.src_set = #mpmd.meshes_with_origins<"m1", "m2">}
  %5 = stablehlo.reduce(%4 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<2x4x8xf32>, tensor<f32>) -> !t
  return %a : !m1
}

// The callee's argument can be where both calls have it.
// CHECK-LABEL: func @calls
func.func @calls(%a: !m1, %b: !m2) -> !m1 attributes {topology = #topology} {
  %0 = mpmd.unassign {origin = "f"} %a : (!m1) -> !t
  %1 = mpmd.transfer %b : (!m2) -> !m1
  %2 = mpmd.unassign {origin = "g"} %b : (!m2) -> !t
  %3 = mpmd.call @callee(%0) : (!t) -> !t
  %4 = mpmd.call @callee(%2) : (!t) -> !t
  // CHECK: stablehlo.sine %{{.*}} {mpmd.src_set = #mpmd.meshes_with_origins<"m1"["f", "transfer"]>}
  %5 = stablehlo.sine %4 : !t
  return %a : !m1
}

// CHECK-LABEL: func private @callee
// CHECK-SAME:    (%arg0: tensor<4x8xf32> {mpmd.src_set = #mpmd.meshes_with_origins<"m1"["transfer", "f"]>})
func.func private @callee(%a: !t) -> !t attributes {topology = #topology} {
  %0 = stablehlo.cosine %a : !t
  return %0 : !t
}
