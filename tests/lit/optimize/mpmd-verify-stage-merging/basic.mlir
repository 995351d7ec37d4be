// RUN: mpmd-opt %s -mpmd-verify-stage-merging | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>

// Different in one of mesh, stage, transpose count, microbatch, half of a backward, remat.
// CHECK-LABEL: func.func @all_different
// CHECK-COUNT-7: mpmd.fragment<
func.func @all_different(%a: !m0, %b: !m1) -> (!m0, !m0, !m1, !m0, !m0, !m0, !m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"], stage=0> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["f"], stage=1> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %2 = mpmd.fragment<mesh="m1", origin=["f"], stage=1> (%b) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m1) -> !m1
  %3 = mpmd.fragment<mesh="m0", origin=["f"(1)], stage=0> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %4 = mpmd.fragment<mesh="m0", origin=["f"], stage=0> (%a) {call_counter = 1 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %5 = mpmd.fragment<mesh="m0", origin=["f"(1)], stage=0> (%a) {call_counter = 0 : ui32, split_keep_transferred} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %6 = mpmd.fragment<mesh="m0", origin=["f"(1)], stage=0> (%a) {call_counter = 0 : ui32, remat} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %0, %1, %2, %3, %4, %5, %6 : !m0, !m0, !m1, !m0, !m0, !m0, !m0
}

// CHECK-LABEL: func.func @without_stage_or_with_several_transpose_counts
// CHECK-COUNT-6: mpmd.fragment<
func.func @without_stage_or_with_several_transpose_counts(%a: !m0, %b: !m1) -> (!m0, !m0, !m0, !m0, !m0, !m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %2 = mpmd.fragment<mesh="m0", origin=["f", "f"(1)], stage=0> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %3 = mpmd.fragment<mesh="m0", origin=["f", "f"(1)], stage=0> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %4 = mpmd.fragment<mesh="m0", origin=[], stage=0> (%a) (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %5 = mpmd.fragment<mesh="m0", origin=[], stage=0> (%a) (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %0, %1, %2, %3, %4, %5 : !m0, !m0, !m0, !m0, !m0, !m0
}
