// RUN: mpmd-opt %s -mpmd-split-bwd-fragments=minimize-residuals -mpmd-fragment-dce | FileCheck %s
// RUN: mpmd-opt %s -mpmd-outline-fragments -mpmd-split-bwd-fragments=minimize-residuals -mpmd-fragment-dce | FileCheck %s --check-prefix=CALL

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x4xf32>>
!mask = !mpmd.mesh_tensor<"m1", tensor<4x4xi1>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>>

// A product is not computed twice, and what the second half can take itself is not handed to it.
// CHECK-LABEL: func.func @product(
// CHECK: %[[KEEP:.*]]:2 = mpmd.fragment<mesh="m1", origin=["f"(1)]> (%arg0, %arg2) {split_keep_transferred} (%[[G:.*]]: tensor<4x4xf32>, %[[W:.*]]: tensor<4x4xf32>)
// CHECK-NEXT: %[[A:.*]] = stablehlo.dot_general %[[G]], %[[W]]
// CHECK-NEXT: %[[DX:.*]] = stablehlo.dot_general %[[A]], %[[W]]
// CHECK-NEXT: mpmd.return %[[DX]], %[[A]]
// CHECK: mpmd.fragment<mesh="m1", origin=["f"(1)]> (%arg1, %[[KEEP]]#1) {split_drop_transferred} (%[[X:.*]]: tensor<4x4xf32>, %[[A2:.*]]: tensor<4x4xf32>)
// CHECK-NEXT: %[[DW:.*]] = stablehlo.dot_general %[[X]], %[[A2]]
// CHECK-NEXT: mpmd.return %[[DW]]
// CALL-LABEL: func.func @product(
// CALL: %[[KEEP:.*]]:2 = mpmd.fragment_call{{.*}}(%arg0, %arg2) {split_keep_transferred}
// CALL: mpmd.fragment_call{{.*}}(%arg1, %[[KEEP]]#1) {split_drop_transferred}
func.func @product(%g: !m1, %x: !m1, %w: !m1) -> (!m0, !m1) attributes {topology = #topology} {
  %0:2 = mpmd.fragment<mesh="m1", origin=["f"(1)]> (%g, %x, %w) (%arg0: tensor<4x4xf32>, %arg1: tensor<4x4xf32>, %arg2: tensor<4x4xf32>) {
    %a = stablehlo.dot_general %arg0, %arg2, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %dx = stablehlo.dot_general %a, %arg2, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %dw = stablehlo.dot_general %arg1, %a, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    mpmd.return %dx, %dw : tensor<4x4xf32>, tensor<4x4xf32>
  } : (!m1, !m1, !m1) -> (!m1, !m1)
  %t = mpmd.transfer %0#0 : (!m1) -> !m0
  return %t, %0#1 : !m0, !m1
}

// Constants are made twice, and a row is handed on rather than the matrix made of it.
// CHECK-LABEL: func.func @broadcast(
// CHECK: %[[KEEP:.*]]:2 = mpmd.fragment<mesh="m1", origin=["f"(1)]> (%arg0) {split_keep_transferred} (%[[G:.*]]: tensor<4x4xf32>)
// CHECK: %[[ROW:.*]] = stablehlo.reduce(%[[G]]
// CHECK: mpmd.return %{{.*}}, %[[ROW]] : tensor<4x4xf32>, tensor<4xf32>
// CHECK: mpmd.fragment<mesh="m1", origin=["f"(1)]> (%arg1, %[[KEEP]]#1) {split_drop_transferred} (%[[X:.*]]: tensor<4x4xf32>, %[[ROW2:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[TWO:.*]] = stablehlo.constant dense<2.000000e+00>
// CHECK-NEXT: %[[ALL:.*]] = stablehlo.broadcast_in_dim %[[ROW2]], dims = [0]
// CHECK-NEXT: %[[DOUBLE:.*]] = stablehlo.multiply %[[ALL]], %[[TWO]]
// CHECK-NEXT: stablehlo.dot_general %[[X]], %[[DOUBLE]]
// CALL-LABEL: func.func @broadcast(
// CALL: %[[KEEP:.*]]:2 = mpmd.fragment_call{{.*}}(%arg0) {split_keep_transferred}
// CALL: mpmd.fragment_call{{.*}}(%arg1, %[[KEEP]]#1) {split_drop_transferred}
func.func @broadcast(%g: !m1, %x: !m1) -> (!m0, !m1) attributes {topology = #topology} {
  %0:2 = mpmd.fragment<mesh="m1", origin=["f"(1)]> (%g, %x) (%arg0: tensor<4x4xf32>, %arg1: tensor<4x4xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %two = stablehlo.constant dense<2.0> : tensor<4x4xf32>
    %row = stablehlo.reduce(%arg0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
    %all = stablehlo.broadcast_in_dim %row, dims = [0] : (tensor<4xf32>) -> tensor<4x4xf32>
    %double = stablehlo.multiply %all, %two : tensor<4x4xf32>
    %dx = stablehlo.add %double, %arg0 : tensor<4x4xf32>
    %dw = stablehlo.dot_general %arg1, %double, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    mpmd.return %dx, %dw : tensor<4x4xf32>, tensor<4x4xf32>
  } : (!m1, !m1) -> (!m1, !m1)
  %t = mpmd.transfer %0#0 : (!m1) -> !m0
  return %t, %0#1 : !m0, !m1
}

// The masked gradient is handed on: to make it again would need the mask and the gradient. %g is no
// argument of the function, so that taking it again would keep it alive.
// CHECK-LABEL: func.func @mask(
// CHECK: %[[G:.*]] = mpmd.transfer %arg0
// CHECK: %[[KEEP:.*]]:2 = mpmd.fragment<{{.*}}(%[[G]], %arg1, %arg3) {split_keep_transferred}
// CHECK: mpmd.fragment<{{.*}}(%arg2, %[[KEEP]]#1) {split_drop_transferred}
// CHECK-NEXT: stablehlo.dot_general
// CHECK-NEXT: mpmd.return
// CALL-LABEL: func.func @mask(
// CALL: %[[KEEP:.*]]:2 = mpmd.fragment_call{{.*}}(%{{.*}}, %arg1, %arg3) {split_keep_transferred}
// CALL: mpmd.fragment_call{{.*}}(%arg2, %[[KEEP]]#1) {split_drop_transferred}
func.func @mask(%g: !m0, %m: !mask, %x: !m1, %w: !m1) -> (!m0, !m1) attributes {topology = #topology} {
  %in = mpmd.transfer %g : (!m0) -> !m1
  %0:2 = mpmd.fragment<mesh="m1", origin=["f"(1)]> (%in, %m, %x, %w) (%arg0: tensor<4x4xf32>, %arg1: tensor<4x4xi1>, %arg2: tensor<4x4xf32>, %arg3: tensor<4x4xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<4x4xf32>
    %s = stablehlo.select %arg1, %arg0, %zero : tensor<4x4xi1>, tensor<4x4xf32>
    %dx = stablehlo.dot_general %s, %arg3, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %dw = stablehlo.dot_general %arg2, %s, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    mpmd.return %dx, %dw : tensor<4x4xf32>, tensor<4x4xf32>
  } : (!m1, !mask, !m1, !m1) -> (!m1, !m1)
  %t = mpmd.transfer %0#0 : (!m1) -> !m0
  return %t, %0#1 : !m0, !m1
}

// What is transferred is not returned a second time for the second half.
// CHECK-LABEL: func.func @transferred_value(
// CHECK: %[[KEEP:.*]] = mpmd.fragment<{{.*}}(%arg0) {split_keep_transferred}
// CHECK: mpmd.fragment<{{.*}}(%arg1, %[[KEEP]]) {split_drop_transferred}
// CALL-LABEL: func.func @transferred_value(
// CALL: %[[KEEP:.*]] = mpmd.fragment_call{{.*}}(%arg0) {split_keep_transferred}
// CALL: mpmd.fragment_call{{.*}}(%arg1, %[[KEEP]]) {split_drop_transferred}
func.func @transferred_value(%g: !m1, %x: !m1) -> (!m0, !m1) attributes {topology = #topology} {
  %0:2 = mpmd.fragment<mesh="m1", origin=["f"(1)]> (%g, %x) (%arg0: tensor<4x4xf32>, %arg1: tensor<4x4xf32>) {
    %dx = stablehlo.dot_general %arg0, %arg0, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %dw = stablehlo.dot_general %arg1, %dx, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    mpmd.return %dx, %dw : tensor<4x4xf32>, tensor<4x4xf32>
  } : (!m1, !m1) -> (!m1, !m1)
  %t = mpmd.transfer %0#0 : (!m1) -> !m0
  return %t, %0#1 : !m0, !m1
}
