// RUN: mpmd-opt %s -mpmd-remove-transfer-cycles | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>, <"m2": <["x"=2]>>>

// CHECK-LABEL: func.func @back(
// CHECK: %[[V0:.*]] = mpmd.transfer %arg0 : ({{.*}}"m0"{{.*}}) -> {{.*}}"m1"
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %arg0, %[[V0]]
func.func @back(%a: !m0) -> (!m0, !m1) attributes {topology = #topology} {
  %x = mpmd.transfer %a : (!m0) -> !m1
  %y = mpmd.transfer %x : (!m1) -> !m0
  return %y, %x : !m0, !m1
}

// CHECK-LABEL: func.func @around(
// CHECK: %[[V0:.*]] = mpmd.transfer %arg0 : ({{.*}}"m0"{{.*}}) -> {{.*}}"m1"
// CHECK: %[[V1:.*]] = mpmd.transfer %[[V0]] : ({{.*}}"m1"{{.*}}) -> {{.*}}"m2"
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %arg0, %[[V0]]
func.func @around(%a: !m0) -> (!m0, !m1) attributes {topology = #topology} {
  %x = mpmd.transfer %a : (!m0) -> !m1
  %y = mpmd.transfer %x : (!m1) -> !m2
  %z = mpmd.transfer %y : (!m2) -> !m0
  %w = mpmd.transfer %y : (!m2) -> !m1
  return %z, %w : !m0, !m1
}

// CHECK-LABEL: func.func @of_a_cycle(
// CHECK: %[[V0:.*]] = mpmd.transfer %arg0 : ({{.*}}"m0"{{.*}}) -> {{.*}}"m1"
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]]
func.func @of_a_cycle(%a: !m0) -> (!m1) attributes {topology = #topology} {
  %x = mpmd.transfer %a : (!m0) -> !m1
  %y = mpmd.transfer %x : (!m1) -> !m0
  %z = mpmd.transfer %y : (!m0) -> !m1
  return %z : !m1
}

// CHECK-LABEL: func.func @no_cycle(
// CHECK: %[[V0:.*]] = mpmd.transfer %arg0 : ({{.*}}"m0"{{.*}}) -> {{.*}}"m1"
// CHECK: %[[V1:.*]] = mpmd.transfer %[[V0]] : ({{.*}}"m1"{{.*}}) -> {{.*}}"m2"
// CHECK: %[[V2:.*]] = mpmd.transfer %arg0 : ({{.*}}"m0"{{.*}}) -> {{.*}}"m2"
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V1]], %[[V2]]
func.func @no_cycle(%a: !m0) -> (!m2, !m2) attributes {topology = #topology} {
  %x = mpmd.transfer %a : (!m0) -> !m1
  %y = mpmd.transfer %x : (!m1) -> !m2
  %z = mpmd.transfer %a : (!m0) -> !m2
  return %y, %z : !m2, !m2
}

// What a fragment returns is another value.
// CHECK-LABEL: func.func @through_a_fragment(
// CHECK: %[[V0:.*]] = mpmd.transfer %arg0 : ({{.*}}"m0"{{.*}}) -> {{.*}}"m1"
// CHECK: %[[V1:.*]] = mpmd.fragment<mesh="m1", origin=["f"]> (%[[V0]]) (
// CHECK: %[[V3:.*]] = mpmd.transfer %[[V1]] : ({{.*}}"m1"{{.*}}) -> {{.*}}"m0"
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V3]]
func.func @through_a_fragment(%a: !m0) -> (!m0) attributes {topology = #topology} {
  %x = mpmd.transfer %a : (!m0) -> !m1
  %y = mpmd.fragment<mesh="m1", origin=["f"]> (%x) (%y_0: tensor<4x8xf32>) {
    %y_o = stablehlo.add %y_0, %y_0 : tensor<4x8xf32>
    mpmd.return %y_o : tensor<4x8xf32>
  } : (!m1) -> !m1
  %z = mpmd.transfer %y : (!m1) -> !m0
  return %z : !m0
}
