// RUN: mpmd-opt %s -mpmd-fold | FileCheck %s

// CHECK-LABEL: func.func @neutral
// CHECK-NEXT: return %arg0, %arg0, %arg0, %arg0, %arg0
func.func @neutral(%x: tensor<4xf64>)
    -> (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) {
  %zero = stablehlo.constant dense<0.0> : tensor<4xf64>
  %one = stablehlo.constant dense<1.0> : tensor<4xf64>
  %0 = stablehlo.add %x, %zero : tensor<4xf64>
  %1 = stablehlo.add %zero, %x : tensor<4xf64>
  %2 = stablehlo.subtract %x, %zero : tensor<4xf64>
  %3 = stablehlo.multiply %x, %one : tensor<4xf64>
  %4 = stablehlo.multiply %one, %x : tensor<4xf64>
  return %0, %1, %2, %3, %4 : tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>
}

// CHECK-LABEL: func.func @choices
// CHECK-NEXT: return %arg0, %arg1, %arg1
func.func @choices(%x: tensor<4xf32>, %y: tensor<4xf32>, %p: tensor<i1>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %yes = stablehlo.constant dense<true> : tensor<i1>
  %no = stablehlo.constant dense<false> : tensor<4xi1>
  %0 = stablehlo.select %yes, %x, %y : tensor<i1>, tensor<4xf32>
  %1 = stablehlo.select %no, %x, %y : tensor<4xi1>, tensor<4xf32>
  %2 = stablehlo.select %p, %y, %y : tensor<i1>, tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// What the number of an unrolled iteration decides.
// CHECK-LABEL: func.func @index
// CHECK: %[[I:.*]] = stablehlo.constant dense<5> : tensor<i32>
// CHECK: return %[[I]], %arg1
func.func @index(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>) {
  %2 = stablehlo.constant dense<2> : tensor<i32>
  %3 = stablehlo.constant dense<3> : tensor<i32>
  %0 = stablehlo.multiply %2, %3 : tensor<i32>
  %1 = stablehlo.constant dense<1> : tensor<i32>
  %4 = stablehlo.subtract %0, %1 : tensor<i32>
  %5 = stablehlo.compare LT, %4, %3 : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %6 = stablehlo.select %5, %x, %y : tensor<i1>, tensor<4xf32>
  return %4, %6 : tensor<i32>, tensor<4xf32>
}

// The scale of a mean, rounded as the type has it.
// CHECK-LABEL: func.func @scale
// CHECK: %[[S:.*]] = stablehlo.constant dense<0.333333343> : tensor<f32>
// CHECK: %[[B:.*]] = stablehlo.constant dense<3.339840e-01> : tensor<bf16>
// CHECK: return %[[S]], %[[B]]
func.func @scale() -> (tensor<f32>, tensor<bf16>) {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %three = stablehlo.constant dense<3.0> : tensor<f32>
  %0 = stablehlo.divide %one, %three : tensor<f32>
  %narrow_one = stablehlo.constant dense<1.0> : tensor<bf16>
  %narrow_three = stablehlo.constant dense<3.0> : tensor<bf16>
  %1 = stablehlo.divide %narrow_one, %narrow_three : tensor<bf16>
  return %0, %1 : tensor<f32>, tensor<bf16>
}

// CHECK-LABEL: func.func @shapes
// CHECK: %[[T:.*]] = stablehlo.transpose %arg0, dims = [2, 0, 1]
// CHECK: return %arg0, %arg0, %[[T]], %arg0
func.func @shapes(%x: tensor<2x3x4xf32>)
    -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<4x2x3xf32>, tensor<2x3x4xf32>) {
  %0 = stablehlo.reshape %x : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %1 = stablehlo.reshape %0 : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
  %2 = stablehlo.transpose %x, dims = [1, 2, 0] : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %3 = stablehlo.transpose %2, dims = [2, 0, 1] : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
  %4 = stablehlo.transpose %2, dims = [1, 2, 0] : (tensor<3x4x2xf32>) -> tensor<4x2x3xf32>
  %5 = stablehlo.convert %x : tensor<2x3x4xf32>
  return %1, %3, %4, %5 : tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<4x2x3xf32>, tensor<2x3x4xf32>
}

// Microbatches of a batch that was stacked; an index out of bounds is moved to where the slice fits.
// CHECK-LABEL: func.func @stack
// CHECK: %[[S:.*]] = stablehlo.slice %arg2 [1:2, 0:4]
// CHECK: return %arg0, %arg1, %arg1, %[[S]]
func.func @stack(%x: tensor<1x4xf32>, %y: tensor<1x4xf32>, %z: tensor<2x4xf32>)
    -> (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %far = stablehlo.constant dense<7> : tensor<i32>
  %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
  %1 = stablehlo.slice %0 [0:1, 0:4] : (tensor<2x4xf32>) -> tensor<1x4xf32>
  %2 = stablehlo.dynamic_slice %0, %one, %c, sizes = [1, 4] : (tensor<2x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
  %3 = stablehlo.dynamic_slice %0, %far, %c, sizes = [1, 4] : (tensor<2x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
  %4 = stablehlo.dynamic_slice %z, %one, %c, sizes = [1, 4] : (tensor<2x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
  return %1, %2, %3, %4 : tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>
}

// CHECK-LABEL: func.func @moved_constants
// CHECK: %[[B:.*]] = stablehlo.constant dense<5.000000e-01> : tensor<2x3xf32>
// CHECK: %[[R:.*]] = stablehlo.constant dense<5.000000e-01> : tensor<6xf32>
// CHECK: %[[T:.*]] = stablehlo.constant dense<5.000000e-01> : tensor<3x2xf32>
// CHECK: %[[S:.*]] = stablehlo.constant dense<5.000000e-01> : tensor<1x3xf32>
// CHECK: %[[P:.*]] = stablehlo.constant dense<true> : tensor<4xi1>
// CHECK: return %[[B]], %[[R]], %[[T]], %[[S]], %[[P]]
func.func @moved_constants()
    -> (tensor<2x3xf32>, tensor<6xf32>, tensor<3x2xf32>, tensor<1x3xf32>, tensor<4xi1>) {
  %half = stablehlo.constant dense<0.5> : tensor<f32>
  %yes = stablehlo.constant dense<true> : tensor<i1>
  %0 = stablehlo.broadcast_in_dim %half, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
  %1 = stablehlo.reshape %0 : (tensor<2x3xf32>) -> tensor<6xf32>
  %2 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %3 = stablehlo.slice %0 [0:1, 0:3] : (tensor<2x3xf32>) -> tensor<1x3xf32>
  %4 = stablehlo.broadcast_in_dim %yes, dims = [] : (tensor<i1>) -> tensor<4xi1>
  return %0, %1, %2, %3, %4 : tensor<2x3xf32>, tensor<6xf32>, tensor<3x2xf32>, tensor<1x3xf32>, tensor<4xi1>
}

// CHECK-LABEL: func.func @in_labels
// CHECK: mpmd.named_computation<"f"> (%arg0) (%[[P:.*]]: tensor<4xf32>) {
// CHECK-NEXT: mpmd.return %[[P]]
func.func @in_labels(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mpmd.named_computation<"f"> (%x) (%p: tensor<4xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<4xf32>
    %1 = stablehlo.add %p, %zero : tensor<4xf32>
    mpmd.return %1 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
