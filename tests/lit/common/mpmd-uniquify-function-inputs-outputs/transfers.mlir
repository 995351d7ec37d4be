// RUN: mpmd-opt %s -mpmd-uniquify-function-inputs-outputs='use-transfer-instead-of-fragment=true' | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>, <"m2": <["x"=2]>>>

// CHECK-LABEL: func.func @argument(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0) (
// CHECK: %[[V2:.*]] = mpmd.transfer %arg0 : ({{.*}}"m0"{{.*}}) -> {{.*}}"m0"
// CHECK: %[[V3:.*]] = mpmd.transfer %arg1 : ({{.*}}"m1"{{.*}}) -> {{.*}}"m1"
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V2]], %[[V0]], %[[V3]]
func.func @argument(%a: !m0, %b: !m1) -> (!m0, !m0, !m1) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x_0: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_0 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  return %a, %x, %b : !m0, !m0, !m1
}

// CHECK-LABEL: func.func @returned_twice(
// CHECK: %[[V0:.*]]:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0, %arg0) (
// CHECK: %[[V3:.*]] = mpmd.transfer %[[V0]]#0 : ({{.*}}"m0"{{.*}}) -> {{.*}}"m1"
// CHECK: %[[V4:.*]] = mpmd.transfer %[[V0]]#0 : ({{.*}}"m0"{{.*}}) -> {{.*}}"m0"
// CHECK: %[[V5:.*]] = mpmd.transfer %[[V3]] : ({{.*}}"m1"{{.*}}) -> {{.*}}"m1"
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]]#0, %[[V0]]#1, %[[V4]], %[[V3]], %[[V5]]
func.func @returned_twice(%a: !m0) -> (!m0, !m0, !m0, !m1, !m1) attributes {topology = #topology} {
  %x:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%a, %a) (%x_0: tensor<4x8xf32>, %x_1: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_1 : tensor<4x8xf32>
    %y_o = stablehlo.multiply %x_0, %x_1 : tensor<4x8xf32>
    mpmd.return %x_o, %y_o : tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m0, !m0) -> (!m0, !m0)
  %z = mpmd.transfer %x#0 : (!m0) -> !m1
  return %x#0, %x#1, %x#0, %z, %z : !m0, !m0, !m0, !m1, !m1
}

// CHECK-LABEL: func.func @unique(
// CHECK: %[[V0:.*]]:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0, %arg0) (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]]#0, %[[V0]]#1
func.func @unique(%a: !m0) -> (!m0, !m0) attributes {topology = #topology} {
  %x:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%a, %a) (%x_0: tensor<4x8xf32>, %x_1: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_1 : tensor<4x8xf32>
    %y_o = stablehlo.multiply %x_0, %x_1 : tensor<4x8xf32>
    mpmd.return %x_o, %y_o : tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m0, !m0) -> (!m0, !m0)
  return %x#0, %x#1 : !m0, !m0
}

// CHECK-LABEL: func.func private @callee(
// CHECK: %[[V0:.*]] = mpmd.transfer %arg0 : ({{.*}}"m0"{{.*}}) -> {{.*}}"m0"
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]]
func.func private @callee(%a: !m0) -> !m0 attributes {topology = #topology} {
  return %a : !m0
}
