// RUN: mpmd-opt %s -mpmd-merge-transfers | FileCheck %s
// RUN: mpmd-opt %s -mpmd-outline-fragments -mpmd-merge-transfers | FileCheck %s --check-prefix=CALL

!a = !mpmd.mesh_tensor<"m0", tensor<8xf32>>
!f0 = !mpmd.mesh_tensor<"m0", tensor<f32>>
!f1 = !mpmd.mesh_tensor<"m1", tensor<f32>>
!one0 = !mpmd.mesh_tensor<"m0", tensor<1xi32>>
!one1 = !mpmd.mesh_tensor<"m1", tensor<1xi32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>>

// Equal types merge, others stay; the consumer takes slices of one operand more.
// CHECK-LABEL: func.func @scalars
// CHECK: %[[P:.*]]:4 = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0)
// CHECK: %[[A:.*]] = stablehlo.reshape %[[X:.*]] : (tensor<f32>) -> tensor<1xf32>
// CHECK: %[[B:.*]] = stablehlo.reshape %[[Y:.*]] : (tensor<f32>) -> tensor<1xf32>
// CHECK: %[[C:.*]] = stablehlo.concatenate %[[A]], %[[B]], dim = 0
// CHECK: mpmd.return %[[X]], %[[Y]], %{{.*}}, %[[C]] :
// CHECK: %[[T:.*]] = mpmd.transfer {concat_transfer} %[[P]]#3 : ({{.*}}<"m0", tensor<2xf32>>) -> {{.*}}<"m1", tensor<2xf32>>
// CHECK: %[[T0:.*]] = mpmd.transfer %[[P]]#0
// CHECK: %[[T1:.*]] = mpmd.transfer %[[P]]#1
// CHECK: %[[T2:.*]] = mpmd.transfer %[[P]]#2
// CHECK: mpmd.fragment<mesh="m1", origin=["g"]> (%[[T0]], %[[T1]], %[[T2]], %[[T]])
// CHECK: %[[S0:.*]] = stablehlo.slice %[[W:.*]] [0:1]
// CHECK: %[[R0:.*]] = stablehlo.reshape %[[S0]] : (tensor<1xf32>) -> tensor<f32>
// CHECK: %[[S1:.*]] = stablehlo.slice %[[W]] [1:2]
// CHECK: %[[R1:.*]] = stablehlo.reshape %[[S1]] : (tensor<1xf32>) -> tensor<f32>
// CHECK: stablehlo.add %[[R0]], %[[R1]]
// CALL-LABEL: func.func @scalars
// CALL: %[[P:.*]]:4 = mpmd.fragment_call<mesh="m0", origin=["f"]> @[[F:.*]](%arg0)
// CALL: %[[T:.*]] = mpmd.transfer {concat_transfer} %[[P]]#3
// CALL: mpmd.fragment_call<mesh="m1", origin=["g"]> @[[G:.*]]({{.*}}, %[[T]])
func.func @scalars(%a: !a) -> !f1 attributes {topology = #topology} {
  %p:3 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x: tensor<8xf32>) {
    %0 = stablehlo.constant dense<1.0> : tensor<f32>
    %1 = stablehlo.constant dense<2.0> : tensor<f32>
    %2 = stablehlo.constant dense<3> : tensor<1xi32>
    mpmd.return %0, %1, %2 : tensor<f32>, tensor<f32>, tensor<1xi32>
  } : (!a) -> (!f0, !f0, !one0)
  %t0 = mpmd.transfer %p#0 : (!f0) -> !f1
  %t1 = mpmd.transfer %p#1 : (!f0) -> !f1
  %t2 = mpmd.transfer %p#2 : (!one0) -> !one1
  %c = mpmd.fragment<mesh="m1", origin=["g"]> (%t0, %t1, %t2) (%x: tensor<f32>, %y: tensor<f32>, %z: tensor<1xi32>) {
    %0 = stablehlo.add %x, %y : tensor<f32>
    mpmd.return %0 : tensor<f32>
  } : (!f1, !f1, !one1) -> !f1
  return %c : !f1
}

// One transfer alone, transfers to different fragments, and larger values stay.
// CHECK-LABEL: func.func @nothing_to_merge
// CHECK-NOT: concat_transfer
// CALL-LABEL: func.func @nothing_to_merge
// CALL-NOT: concat_transfer
func.func @nothing_to_merge(%a: !mpmd.mesh_tensor<"m0", tensor<2xf32>>) -> (!f1, !f1, !f1)
    attributes {topology = #topology} {
  %p:4 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x: tensor<2xf32>) {
    %0 = stablehlo.constant dense<1.0> : tensor<f32>
    %1 = stablehlo.constant dense<2.0> : tensor<f32>
    mpmd.return %0, %1, %x, %x : tensor<f32>, tensor<f32>, tensor<2xf32>, tensor<2xf32>
  } : (!mpmd.mesh_tensor<"m0", tensor<2xf32>>) -> (!f0, !f0, !mpmd.mesh_tensor<"m0", tensor<2xf32>>, !mpmd.mesh_tensor<"m0", tensor<2xf32>>)
  %t0 = mpmd.transfer %p#0 : (!f0) -> !f1
  %t1 = mpmd.transfer %p#1 : (!f0) -> !f1
  %t2 = mpmd.transfer %p#2 : (!mpmd.mesh_tensor<"m0", tensor<2xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<2xf32>>
  %t3 = mpmd.transfer %p#3 : (!mpmd.mesh_tensor<"m0", tensor<2xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<2xf32>>
  %c = mpmd.fragment<mesh="m1", origin=["g"]> (%t0, %t2, %t3) (%x: tensor<f32>, %y: tensor<2xf32>, %z: tensor<2xf32>) {
    mpmd.return %x : tensor<f32>
  } : (!f1, !mpmd.mesh_tensor<"m1", tensor<2xf32>>, !mpmd.mesh_tensor<"m1", tensor<2xf32>>) -> !f1
  %d = mpmd.fragment<mesh="m1", origin=["h"]> (%t1) (%x: tensor<f32>) {
    mpmd.return %x : tensor<f32>
  } : (!f1) -> !f1
  return %c, %d, %t1 : !f1, !f1, !f1
}

// CALL-DAG: func.func private @[[F]](%{{.*}}: tensor<8xf32>) -> (tensor<f32>, tensor<f32>, tensor<1xi32>, tensor<2xf32>)
// CALL-DAG: func.func private @[[G]](%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<1xi32>, %{{.*}}: tensor<2xf32>) -> tensor<f32>
