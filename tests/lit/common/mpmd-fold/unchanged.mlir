// RUN: mpmd-opt %s -mpmd-fold | FileCheck %s

// CHECK-LABEL: func.func @numbers
// CHECK: %[[S:.*]] = stablehlo.subtract %arg0, %{{.*}} : tensor<4xf64>
// CHECK: %[[M:.*]] = stablehlo.multiply %arg0, %{{.*}} : tensor<4xf64>
// CHECK: %[[F:.*]] = stablehlo.divide %{{.*}}, %{{.*}} : tensor<f64>
// CHECK: %[[O:.*]] = stablehlo.multiply %{{.*}}, %{{.*}} : tensor<i8>
// CHECK: %[[C:.*]] = stablehlo.compare LT
// CHECK: return %[[S]], %[[M]], %[[F]], %[[O]], %[[C]]
func.func @numbers(%x: tensor<4xf64>)
    -> (tensor<4xf64>, tensor<4xf64>, tensor<f64>, tensor<i8>, tensor<i1>) {
  // -0.0 - -0.0 is 0.0.
  %minus = stablehlo.constant dense<-0.0> : tensor<4xf64>
  %0 = stablehlo.subtract %x, %minus : tensor<4xf64>
  // 0 * inf is not a number.
  %zero = stablehlo.constant dense<0.0> : tensor<4xf64>
  %1 = stablehlo.multiply %x, %zero : tensor<4xf64>
  // Nothing that is not finite.
  %half = stablehlo.constant dense<0.5> : tensor<f64>
  %third = stablehlo.constant dense<0.3> : tensor<f64>
  %nothing = stablehlo.constant dense<0.0> : tensor<f64>
  %2 = stablehlo.divide %half, %nothing : tensor<f64>
  // Nothing that overflows.
  %hundred = stablehlo.constant dense<100> : tensor<i8>
  %3 = stablehlo.multiply %hundred, %hundred : tensor<i8>
  %4 = stablehlo.compare LT, %half, %third : (tensor<f64>, tensor<f64>) -> tensor<i1>
  return %0, %1, %2, %3, %4 : tensor<4xf64>, tensor<4xf64>, tensor<f64>, tensor<i8>, tensor<i1>
}

// CHECK-LABEL: func.func @stack
// CHECK: %[[ACROSS:.*]] = stablehlo.slice %{{.*}} [1:3]
// CHECK: %[[STEPS:.*]] = stablehlo.slice %{{.*}} [0:4:2]
// CHECK: %[[DYNAMIC:.*]] = stablehlo.dynamic_slice
// CHECK: return %[[ACROSS]], %[[STEPS]], %[[DYNAMIC]]
func.func @stack(%x: tensor<2xf32>, %y: tensor<2xf32>, %i: tensor<i32>)
    -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %1 = stablehlo.slice %0 [1:3] : (tensor<4xf32>) -> tensor<2xf32>
  %2 = stablehlo.slice %0 [0:4:2] : (tensor<4xf32>) -> tensor<2xf32>
  %3 = stablehlo.dynamic_slice %0, %i, sizes = [2] : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>
  return %1, %2, %3 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// An effect stays.
// CHECK-LABEL: func.func @effect
// CHECK: stablehlo.custom_call @log
func.func @effect(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.custom_call @log(%x) {has_side_effect = true} : (tensor<2xf32>) -> tensor<2xf32>
  return %x : tensor<2xf32>
}

// Complex constants are left alone.
// CHECK-LABEL: func.func @complex
// CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim
// CHECK: %[[A:.*]] = stablehlo.add %arg0, %[[B]]
// CHECK: return %[[A]]
func.func @complex(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %zero = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f32>>
  %0 = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<complex<f32>>) -> tensor<4xcomplex<f32>>
  %1 = stablehlo.add %x, %0 : tensor<4xcomplex<f32>>
  return %1 : tensor<4xcomplex<f32>>
}
