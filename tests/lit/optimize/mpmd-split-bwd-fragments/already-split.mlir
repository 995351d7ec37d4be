// RUN: mpmd-opt %s -mpmd-split-bwd-fragments -mpmd-split-bwd-fragments | FileCheck %s
// RUN: mpmd-opt %s -mpmd-outline-fragments -mpmd-split-bwd-fragments -mpmd-split-bwd-fragments | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x4xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>>

// The first half hands on what it takes, which would be a reason to split it again.
// CHECK-LABEL: func.func @main(
// CHECK: split_keep_transferred
// CHECK: split_drop_transferred
// CHECK-NOT: split_{{keep|drop}}_transferred
// CHECK: return
func.func @main(%g: !m1, %x: !m1) -> (!m0, !m1) attributes {topology = #topology} {
  %0:2 = mpmd.fragment<mesh="m1", origin=["f"(1)]> (%g, %x) (%arg0: tensor<4x4xf32>, %arg1: tensor<4x4xf32>) {
    %y = stablehlo.add %arg0, %arg1 : tensor<4x4xf32>
    %z = stablehlo.multiply %arg1, %arg1 : tensor<4x4xf32>
    mpmd.return %y, %z : tensor<4x4xf32>, tensor<4x4xf32>
  } : (!m1, !m1) -> (!m1, !m1)
  %t = mpmd.transfer %0#0 : (!m1) -> !m0
  return %t, %0#1 : !m0, !m1
}
