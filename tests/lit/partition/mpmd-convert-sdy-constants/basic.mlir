// RUN: mpmd-opt %s -mpmd-convert-sdy-constants | FileCheck %s

// CHECK-LABEL: func @everywhere
// CHECK-NOT: sdy.constant
func.func @everywhere(%arg0: !mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
    attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0) (%arg1: tensor<4xf32>) {
    // CHECK: %[[INIT:.*]] = stablehlo.constant dense<2.000000e+00> : tensor<4xf32>
    // CHECK: stablehlo.while(%{{.*}} = %[[INIT]])
    // CHECK: stablehlo.constant dense<true> : tensor<i1>
    %1 = sdy.constant dense<2.0> : tensor<4xf32>
    %2 = stablehlo.while(%arg2 = %1) : tensor<4xf32> cond {
      %3 = sdy.constant dense<true> : tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %3 = stablehlo.add %arg2, %arg1 : tensor<4xf32>
      stablehlo.return %3 : tensor<4xf32>
    }
    mpmd.return %2 : tensor<4xf32>
  } : (!mpmd.mesh_tensor<"m1", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4xf32>>
  return %0 : !mpmd.mesh_tensor<"m1", tensor<4xf32>>
}

// CHECK-LABEL: func @keeps_attributes
// CHECK: stablehlo.constant {mhlo.frontend_attributes = {a = "b"}} dense<1> : tensor<2xi32>
func.func @keeps_attributes() -> tensor<2xi32> {
  %0 = sdy.constant {mhlo.frontend_attributes = {a = "b"}} dense<1> : tensor<2xi32>
  return %0 : tensor<2xi32>
}
