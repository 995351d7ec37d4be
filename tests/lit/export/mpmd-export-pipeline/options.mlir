// RUN: mpmd-opt %s -mpmd-export-pipeline | FileCheck %s
// RUN: mpmd-opt %s -mpmd-export-pipeline='copy-constants=true' | FileCheck %s --check-prefix=COPY
// RUN: mpmd-opt %s -mpmd-export-pipeline='merge-transfers=true' | FileCheck %s --check-prefix=MERGE

!m0 = !mpmd.mesh_tensor<"m0", tensor<f32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<f32>>

// CHECK-LABEL: func.func @main(
// CHECK-COUNT-2: mpmd.transfer
// CHECK-NOT: mpmd.transfer
// COPY-LABEL: func.func @main(
// COPY-COUNT-1: mpmd.transfer
// COPY-NOT: mpmd.transfer
// MERGE-LABEL: func.func @main(
// MERGE-COUNT-1: mpmd.transfer
// MERGE-NOT: mpmd.transfer
// MERGE: stablehlo.concatenate
func.func @main(%a: !m0) -> !m1 attributes {topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>>} {
  %0:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%b: tensor<f32>) {
    %4 = stablehlo.constant dense<3.0> : tensor<f32>
    %5 = stablehlo.negate %b : tensor<f32>
    mpmd.return %4, %5 : tensor<f32>, tensor<f32>
  } : (!m0) -> (!m0, !m0)
  %1 = mpmd.transfer %0#0 : (!m0) -> !m1
  %2 = mpmd.transfer %0#1 : (!m0) -> !m1
  %3 = mpmd.fragment<mesh="m1", origin=["g"]> (%1, %2) (%b: tensor<f32>, %c: tensor<f32>) {
    %4 = stablehlo.multiply %b, %c : tensor<f32>
    mpmd.return %4 : tensor<f32>
  } : (!m1, !m1) -> !m1
  return %3 : !m1
}
