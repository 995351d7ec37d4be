// RUN: mpmd-opt %s -mpmd-infer-mesh-convert-reduce-ops=infer-cross-mesh-reductions | FileCheck %s
// RUN: mpmd-opt %s -mpmd-infer-mesh-convert-reduce-ops | FileCheck %s --check-prefix=OFF

!t = tensor<4x8xf32>
#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>

// OFF-NOT: mpmd.reduce<

// CHECK-LABEL: func @chain
// CHECK-SAME:    (%[[A:.*]]: tensor<4x8xf32>, %[[B:.*]]: tensor<4x8xf32>, %[[C:.*]]: tensor<4x8xf32>)
func.func @chain(%a: !t, %b: !t, %c: !t) -> !t attributes {topology = #topology} {
  // CHECK-NEXT: %[[R:.*]] = mpmd.reduce<add> {mpmd.src_set = #mpmd.meshes_with_origins<"m1">} %[[A]], %[[B]], %[[C]], %[[A]]
  // CHECK-NEXT: return %[[R]]
  %0 = stablehlo.add %a, %b {mpmd.reduce = #mpmd.reduction<add>} : !t
  %1 = stablehlo.add %c, %a {mpmd.reduce = #mpmd.reduction<add>} : !t
  %2 = stablehlo.add %0, %1 {mpmd.reduce = #mpmd.reduction<add>, mpmd.src_set = #mpmd.meshes_with_origins<"m1">} : !t
  return %2 : !t
}

// CHECK-LABEL: func @other_kinds_and_users
func.func @other_kinds_and_users(%a: !t, %b: !t, %c: !t) -> (!t, !t) attributes {topology = #topology} {
  // CHECK-NEXT: %[[R:.*]] = mpmd.reduce<add> %arg0, %arg1
  // CHECK-NEXT: mpmd.reduce<max> %[[R]], %arg2
  // CHECK-NEXT: stablehlo.add %arg0, %arg1 :
  %0 = stablehlo.add %a, %b {mpmd.reduce = #mpmd.reduction<add>} : !t
  %1 = stablehlo.maximum %0, %c {mpmd.reduce = #mpmd.reduction<max>} : !t
  %2 = stablehlo.add %a, %b : !t
  return %1, %2 : !t, !t
}

// CHECK-LABEL: func @stack
func.func @stack(%a: tensor<1x4x8xf32>, %b: tensor<1x4x8xf32>) -> !t attributes {topology = #topology} {
  // CHECK-NOT:  stablehlo.concatenate
  // CHECK:      %[[A:.*]] = stablehlo.reshape %arg0
  // CHECK-NEXT: %[[B:.*]] = stablehlo.reshape %arg1
  // CHECK-NEXT: mpmd.reduce<add> %[[A]], %[[B]] :
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.concatenate %a, %b, dim = 0 {mpmd.reduce = #mpmd.reduction<add>} : (tensor<1x4x8xf32>, tensor<1x4x8xf32>) -> tensor<2x4x8xf32>
  %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [0] {mpmd.reduce = #mpmd.reduction<add>} : (tensor<2x4x8xf32>, tensor<f32>) -> !t
  return %1 : !t
}

// An initial value that counts is one more value.
// CHECK-LABEL: func @initial_value
func.func @initial_value(%a: tensor<1x4x8xf32>, %b: tensor<1x4x8xf32>, %c: tensor<f32>) -> !t attributes {topology = #topology} {
  // CHECK: %[[C:.*]] = stablehlo.broadcast_in_dim %arg2
  // CHECK: mpmd.reduce<max> %{{.*}}, %{{.*}}, %[[C]] :
  %0 = stablehlo.concatenate %a, %b, dim = 0 {mpmd.reduce = #mpmd.reduction<max>} : (tensor<1x4x8xf32>, tensor<1x4x8xf32>) -> tensor<2x4x8xf32>
  %1 = stablehlo.reduce(%0 init: %c) applies stablehlo.maximum across dimensions = [0] {mpmd.reduce = #mpmd.reduction<max>} : (tensor<2x4x8xf32>, tensor<f32>) -> !t
  return %1 : !t
}
