// RUN: mpmd-opt %s -mpmd-move-transfers-to-producer | FileCheck %s
// RUN: mpmd-opt %s -mpmd-outline-fragments -mpmd-move-transfers-to-producer | FileCheck %s --check-prefix=CALL

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>, <"m2": <["x"=2]>>>

// CHECK-LABEL: func.func @to_the_producer(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0) (
// CHECK: %[[V2:.*]] = mpmd.transfer %[[V0]] : ({{.*}}"m0"{{.*}}) -> {{.*}}"m1"
// CHECK: %[[V3:.*]] = mpmd.fragment<mesh="m0", origin=["g"]> (%[[V0]]) (
// CHECK: %[[V5:.*]] = mpmd.transfer %[[V3]] : ({{.*}}"m0"{{.*}}) -> {{.*}}"m1"
// CHECK: %[[V6:.*]] = mpmd.fragment<mesh="m0", origin=["h"]> (%[[V3]]) (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V6]], %[[V2]], %[[V5]]
// CALL-LABEL: func.func @to_the_producer(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0)
// CALL: %[[V1:.*]] = mpmd.transfer %[[V0]] : ({{.*}}"m0"{{.*}}) -> {{.*}}"m1"
// CALL: %[[V2:.*]] = mpmd.fragment_call<mesh="m0", origin=["g"]> @{{.*}}(%[[V0]])
// CALL: %[[V3:.*]] = mpmd.transfer %[[V2]] : ({{.*}}"m0"{{.*}}) -> {{.*}}"m1"
// CALL: %[[V4:.*]] = mpmd.fragment_call<mesh="m0", origin=["h"]> @{{.*}}(%[[V2]])
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V4]], %[[V1]], %[[V3]]
func.func @to_the_producer(%a: !m0) -> (!m0, !m1, !m1) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x_0: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_0 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  %y = mpmd.fragment<mesh="m0", origin=["g"]> (%x) (%y_0: tensor<4x8xf32>) {
    %y_o = stablehlo.add %y_0, %y_0 : tensor<4x8xf32>
    mpmd.return %y_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  %t = mpmd.transfer %x : (!m0) -> !m1
  %z = mpmd.fragment<mesh="m0", origin=["h"]> (%y) (%z_0: tensor<4x8xf32>) {
    %z_o = stablehlo.add %z_0, %z_0 : tensor<4x8xf32>
    mpmd.return %z_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  %s = mpmd.transfer %y : (!m0) -> !m1
  return %z, %t, %s : !m0, !m1, !m1
}

// The transfer of an argument comes first.
// CHECK-LABEL: func.func @argument(
// CHECK: %[[V0:.*]] = mpmd.transfer %arg1 : ({{.*}}"m1"{{.*}}) -> {{.*}}"m0"
// CHECK: %[[V1:.*]] = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0) (
// CHECK: %[[V3:.*]] = mpmd.transfer %[[V1]] : ({{.*}}"m0"{{.*}}) -> {{.*}}"m1"
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V3]], %[[V0]]
// CALL-LABEL: func.func @argument(
// CALL: %[[V0:.*]] = mpmd.transfer %arg1 : ({{.*}}"m1"{{.*}}) -> {{.*}}"m0"
// CALL: %[[V1:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0)
// CALL: %[[V2:.*]] = mpmd.transfer %[[V1]] : ({{.*}}"m0"{{.*}}) -> {{.*}}"m1"
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V2]], %[[V0]]
func.func @argument(%a: !m0, %b: !m1) -> (!m1, !m0) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x_0: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_0 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  %t = mpmd.transfer %x : (!m0) -> !m1
  %s = mpmd.transfer %b : (!m1) -> !m0
  return %t, %s : !m1, !m0
}

// Of several, the last one comes first.
// CHECK-LABEL: func.func @several(
// CHECK: %[[V0:.*]]:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0) (
// CHECK: %[[V3:.*]] = mpmd.transfer %[[V0]]#1 : ({{.*}}"m0"{{.*}}) -> {{.*}}"m2"
// CHECK: %[[V4:.*]] = mpmd.transfer %[[V0]]#0 : ({{.*}}"m0"{{.*}}) -> {{.*}}"m1"
// CHECK: %[[V5:.*]] = mpmd.fragment<mesh="m0", origin=["g"]> (%[[V0]]#0) (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V5]], %[[V4]], %[[V3]]
// CALL-LABEL: func.func @several(
// CALL: %[[V0:.*]]:2 = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0)
// CALL: %[[V1:.*]] = mpmd.transfer %[[V0]]#1 : ({{.*}}"m0"{{.*}}) -> {{.*}}"m2"
// CALL: %[[V2:.*]] = mpmd.transfer %[[V0]]#0 : ({{.*}}"m0"{{.*}}) -> {{.*}}"m1"
// CALL: %[[V3:.*]] = mpmd.fragment_call<mesh="m0", origin=["g"]> @{{.*}}(%[[V0]]#0)
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V3]], %[[V2]], %[[V1]]
func.func @several(%a: !m0) -> (!m0, !m1, !m2) attributes {topology = #topology} {
  %x:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x_0: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_0 : tensor<4x8xf32>
    %y_o = stablehlo.multiply %x_0, %x_0 : tensor<4x8xf32>
    mpmd.return %x_o, %y_o : tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m0) -> (!m0, !m0)
  %z = mpmd.fragment<mesh="m0", origin=["g"]> (%x#0) (%z_0: tensor<4x8xf32>) {
    %z_o = stablehlo.add %z_0, %z_0 : tensor<4x8xf32>
    mpmd.return %z_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  %t = mpmd.transfer %x#0 : (!m0) -> !m1
  %s = mpmd.transfer %x#1 : (!m0) -> !m2
  return %z, %t, %s : !m0, !m1, !m2
}

// CHECK-LABEL: func.func @chain(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0) (
// CHECK: %[[V2:.*]] = mpmd.transfer %[[V0]] : ({{.*}}"m0"{{.*}}) -> {{.*}}"m1"
// CHECK: %[[V3:.*]] = mpmd.transfer %[[V2]] : ({{.*}}"m1"{{.*}}) -> {{.*}}"m2"
// CHECK: %[[V4:.*]] = mpmd.fragment<mesh="m0", origin=["g"]> (%[[V0]]) (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V4]], %[[V3]]
// CALL-LABEL: func.func @chain(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0)
// CALL: %[[V1:.*]] = mpmd.transfer %[[V0]] : ({{.*}}"m0"{{.*}}) -> {{.*}}"m1"
// CALL: %[[V2:.*]] = mpmd.transfer %[[V1]] : ({{.*}}"m1"{{.*}}) -> {{.*}}"m2"
// CALL: %[[V3:.*]] = mpmd.fragment_call<mesh="m0", origin=["g"]> @{{.*}}(%[[V0]])
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V3]], %[[V2]]
func.func @chain(%a: !m0) -> (!m0, !m2) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x_0: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_0 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  %t = mpmd.transfer %x : (!m0) -> !m1
  %z = mpmd.fragment<mesh="m0", origin=["g"]> (%x) (%z_0: tensor<4x8xf32>) {
    %z_o = stablehlo.add %z_0, %z_0 : tensor<4x8xf32>
    mpmd.return %z_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  %s = mpmd.transfer %t : (!m1) -> !m2
  return %z, %s : !m0, !m2
}
