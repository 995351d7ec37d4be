// RUN: mpmd-opt %s -mpmd-delay-transfers-from-cpu | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>
!pinned = !mpmd.mesh_tensor<"m0", tensor<4xf32>, memory_kind="pinned_host">
!cpu = !mpmd.mesh_tensor<"m0/cpu", tensor<4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m0/cpu": <["x"=2]>>, <"m1": <["x"=2]>>>

// CHECK-LABEL: func.func @main(
// CHECK-NEXT: %[[DEVICE:.*]] = mpmd.transfer %arg3
// CHECK-NEXT: %[[TO_CPU:.*]] = mpmd.transfer %arg2
// CHECK-NEXT: mpmd.transfer %arg1 {{.*}} -> !mpmd.mesh_tensor<"m1"
// CHECK-NEXT: mpmd.fragment<mesh="m0", origin=["f"]> (%arg2)
// CHECK: %[[FROM_CPU:.*]] = mpmd.transfer %arg0
// CHECK-NEXT: %[[FROM_PINNED:.*]] = mpmd.transfer %arg1
// CHECK-NEXT: mpmd.fragment<mesh="m0", origin=["g"]> (%[[FROM_CPU]], %[[FROM_PINNED]], %[[DEVICE]])
// CHECK: %[[BACK:.*]] = mpmd.transfer %[[TO_CPU]]
// CHECK-NEXT: return %{{.*}}, %{{.*}}, %[[BACK]]
func.func @main(%a: !cpu, %b: !pinned, %c: !m0, %d: !m1) -> (!m0, !m0, !m0) attributes {topology = #topology} {
  %0 = mpmd.transfer %a : (!cpu) -> !m0
  %1 = mpmd.transfer %b : (!pinned) -> !m0
  %2 = mpmd.transfer %d : (!m1) -> !m0
  %3 = mpmd.transfer %c : (!m0) -> !cpu
  %4 = mpmd.transfer %3 : (!cpu) -> !m0
  %unused = mpmd.transfer %b : (!pinned) -> !m1
  %5 = mpmd.fragment<mesh="m0", origin=["f"]> (%c) (%x: tensor<4xf32>) {
    mpmd.return %x : tensor<4xf32>
  } : (!m0) -> !m0
  %6 = mpmd.fragment<mesh="m0", origin=["g"]> (%0, %1, %2)
      (%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) {
    mpmd.return %x : tensor<4xf32>
  } : (!m0, !m0, !m0) -> !m0
  return %5, %6, %4 : !m0, !m0, !m0
}
