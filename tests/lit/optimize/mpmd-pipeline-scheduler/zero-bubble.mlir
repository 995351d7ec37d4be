// Halves of a backward are put in order one by one.
// RUN: mpmd-opt %s -mpmd-pipeline-scheduler=must-happen-before=builtin:ZeroBubbleH1 | FileCheck %s --check-prefix=M0
// RUN: mpmd-opt %s -mpmd-pipeline-scheduler=must-happen-before=builtin:ZeroBubbleH1 | FileCheck %s --check-prefix=M1

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>

// M0-LABEL: func.func @main
// M0: fragment<mesh="m0", origin=["f"]>{{.*}}call_counter = 0 : ui32}
// M0: fragment<mesh="m0", origin=["f"]>{{.*}}call_counter = 1 : ui32}
// M0: fragment<mesh="m0", origin=["f"(1)]>{{.*}}call_counter = 0 : ui32, split_keep
// M0: fragment<mesh="m0", origin=["f"(1)]>{{.*}}call_counter = 0 : ui32, split_drop
// M0: fragment<mesh="m0", origin=["f"]>{{.*}}call_counter = 2 : ui32}
// M0: fragment<mesh="m0", origin=["f"(1)]>{{.*}}call_counter = 1 : ui32, split_keep
// M0: fragment<mesh="m0", origin=["f"(1)]>{{.*}}call_counter = 1 : ui32, split_drop
// M0: fragment<mesh="m0", origin=["f"(1)]>{{.*}}call_counter = 2 : ui32, split_keep
// M0: fragment<mesh="m0", origin=["f"(1)]>{{.*}}call_counter = 2 : ui32, split_drop
// M1-LABEL: func.func @main
// M1: fragment<mesh="m1", origin=["g"]>{{.*}}call_counter = 0 : ui32}
// M1: fragment<mesh="m1", origin=["g"(1)]>{{.*}}call_counter = 0 : ui32, split_keep
// M1: fragment<mesh="m1", origin=["g"]>{{.*}}call_counter = 1 : ui32}
// M1: fragment<mesh="m1", origin=["g"(1)]>{{.*}}call_counter = 1 : ui32, split_keep
// M1: fragment<mesh="m1", origin=["g"(1)]>{{.*}}call_counter = 0 : ui32, split_drop
// M1: fragment<mesh="m1", origin=["g"]>{{.*}}call_counter = 2 : ui32}
// M1: fragment<mesh="m1", origin=["g"(1)]>{{.*}}call_counter = 2 : ui32, split_keep
// M1: fragment<mesh="m1", origin=["g"(1)]>{{.*}}call_counter = 1 : ui32, split_drop
// M1: fragment<mesh="m1", origin=["g"(1)]>{{.*}}call_counter = 2 : ui32, split_drop
func.func @main(%a: !m0, %b: !m1) -> (!m0, !m0, !m0, !m1, !m1, !m1)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %f0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %t0 = mpmd.transfer %f0 : (!m0) -> !m1
  %g0 = mpmd.fragment<mesh="m1", origin=["g"]> (%t0) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m1) -> !m1
  %h0 = mpmd.fragment<mesh="m1", origin=["g"(1)]> (%g0) {call_counter = 0 : ui32, split_keep_transferred} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m1) -> !m1
  %v0 = mpmd.fragment<mesh="m1", origin=["g"(1)]> (%h0) {call_counter = 0 : ui32, split_drop_transferred} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m1) -> !m1
  %u0 = mpmd.transfer %h0 : (!m1) -> !m0
  %k0 = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%u0) {call_counter = 0 : ui32, split_keep_transferred} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %w0 = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%k0) {call_counter = 0 : ui32, split_drop_transferred} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %f1 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 1 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %t1 = mpmd.transfer %f1 : (!m0) -> !m1
  %g1 = mpmd.fragment<mesh="m1", origin=["g"]> (%t1) {call_counter = 1 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m1) -> !m1
  %h1 = mpmd.fragment<mesh="m1", origin=["g"(1)]> (%g1) {call_counter = 1 : ui32, split_keep_transferred} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m1) -> !m1
  %v1 = mpmd.fragment<mesh="m1", origin=["g"(1)]> (%h1) {call_counter = 1 : ui32, split_drop_transferred} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m1) -> !m1
  %u1 = mpmd.transfer %h1 : (!m1) -> !m0
  %k1 = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%u1) {call_counter = 1 : ui32, split_keep_transferred} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %w1 = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%k1) {call_counter = 1 : ui32, split_drop_transferred} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %f2 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 2 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %t2 = mpmd.transfer %f2 : (!m0) -> !m1
  %g2 = mpmd.fragment<mesh="m1", origin=["g"]> (%t2) {call_counter = 2 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m1) -> !m1
  %h2 = mpmd.fragment<mesh="m1", origin=["g"(1)]> (%g2) {call_counter = 2 : ui32, split_keep_transferred} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m1) -> !m1
  %v2 = mpmd.fragment<mesh="m1", origin=["g"(1)]> (%h2) {call_counter = 2 : ui32, split_drop_transferred} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m1) -> !m1
  %u2 = mpmd.transfer %h2 : (!m1) -> !m0
  %k2 = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%u2) {call_counter = 2 : ui32, split_keep_transferred} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %w2 = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%k2) {call_counter = 2 : ui32, split_drop_transferred} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %w0, %w1, %w2, %v0, %v1, %v2 : !m0, !m0, !m0, !m1, !m1, !m1
}
