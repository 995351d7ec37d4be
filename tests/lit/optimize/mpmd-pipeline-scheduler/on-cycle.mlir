// RUN: mpmd-opt %s -split-input-file -mpmd-pipeline-scheduler="must-happen-before=builtin:GPipe on-cycle=relax" 2>&1 | FileCheck %s
// RUN: mpmd-opt %s -split-input-file -mpmd-pipeline-scheduler="must-happen-before=builtin:1F1B on-cycle=skip" 2>&1 | FileCheck %s --check-prefix=SKIP

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>

// Two steps of two microbatches each: each of them is scheduled, as the second needs the first.
// CHECK-LABEL: func.func @two_steps
// CHECK: origin=["f"]{{.*}}call_counter = 0
// CHECK: origin=["f"]{{.*}}call_counter = 1
// CHECK: origin=["f"(1)]{{.*}}call_counter = 0
// CHECK: origin=["f"(1)]{{.*}}call_counter = 1
// CHECK: origin=["f"]{{.*}}call_counter = 2
// CHECK: origin=["f"]{{.*}}call_counter = 3
// CHECK: origin=["f"(1)]{{.*}}call_counter = 2
// CHECK: origin=["f"(1)]{{.*}}call_counter = 3
func.func @two_steps(%a: !m0) -> (!m0, !m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x: tensor<4xf32>) {
    mpmd.return %x : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%0) {call_counter = 0 : ui32} (%x: tensor<4xf32>) {
    mpmd.return %x : tensor<4xf32>
  } : (!m0) -> !m0
  %2 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 1 : ui32} (%x: tensor<4xf32>) {
    mpmd.return %x : tensor<4xf32>
  } : (!m0) -> !m0
  %3 = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%1, %2) {call_counter = 1 : ui32} (%x: tensor<4xf32>, %y: tensor<4xf32>) {
    mpmd.return %y : tensor<4xf32>
  } : (!m0, !m0) -> !m0
  %4 = mpmd.fragment<mesh="m0", origin=["f"]> (%3) {call_counter = 2 : ui32} (%x: tensor<4xf32>) {
    mpmd.return %x : tensor<4xf32>
  } : (!m0) -> !m0
  %5 = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%4) {call_counter = 2 : ui32} (%x: tensor<4xf32>) {
    mpmd.return %x : tensor<4xf32>
  } : (!m0) -> !m0
  %6 = mpmd.fragment<mesh="m0", origin=["f"]> (%3) {call_counter = 3 : ui32} (%x: tensor<4xf32>) {
    mpmd.return %x : tensor<4xf32>
  } : (!m0) -> !m0
  %7 = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%6) {call_counter = 3 : ui32} (%x: tensor<4xf32>) {
    mpmd.return %x : tensor<4xf32>
  } : (!m0) -> !m0
  return %5, %7 : !m0, !m0
}

// -----

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>

// No backward can run before the last forward, so that 1F1B is not possible at all.
// CHECK-LABEL: func.func @all_before_any
// CHECK: origin=["f"]{{.*}}call_counter = 0
// SKIP-LABEL: func.func @all_before_any
// SKIP: origin=["f"]{{.*}}call_counter = 0
// SKIP: origin=["f"]{{.*}}call_counter = 1
// SKIP: origin=["f"(1)]{{.*}}call_counter = 1
// SKIP: origin=["f"(1)]{{.*}}call_counter = 0
func.func @all_before_any(%a: !m0) -> (!m0, !m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x: tensor<4xf32>) {
    mpmd.return %x : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["f"]> (%0) {call_counter = 1 : ui32} (%x: tensor<4xf32>) {
    mpmd.return %x : tensor<4xf32>
  } : (!m0) -> !m0
  %2 = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%1) {call_counter = 1 : ui32} (%x: tensor<4xf32>) {
    mpmd.return %x : tensor<4xf32>
  } : (!m0) -> !m0
  %3 = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%1) {call_counter = 0 : ui32} (%x: tensor<4xf32>) {
    mpmd.return %x : tensor<4xf32>
  } : (!m0) -> !m0
  return %2, %3 : !m0, !m0
}

// -----

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>

// A microbatch that comes back to m0: 1F1B orders where it enters, f, and not where it returns, h.
// SKIP-LABEL: func.func @there_and_back
// SKIP: origin=["f"]{{.*}}call_counter = 0
// SKIP: origin=["g"(1)]{{.*}}call_counter = 0
// SKIP: origin=["f"]{{.*}}call_counter = 1
// SKIP: origin=["g"]{{.*}}call_counter = 1
// SKIP: origin=["f"(1)]{{.*}}call_counter = 0
func.func @there_and_back(%a: !m0) -> (!m0, !m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x: tensor<4xf32>) {
    mpmd.return %x : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.transfer %0 : (!m0) -> !m1
  %2 = mpmd.fragment<mesh="m1", origin=["g"]> (%1) {call_counter = 0 : ui32} (%x: tensor<4xf32>) {
    mpmd.return %x : tensor<4xf32>
  } : (!m1) -> !m1
  %3 = mpmd.transfer %2 : (!m1) -> !m0
  %4 = mpmd.fragment<mesh="m0", origin=["h"]> (%3) {call_counter = 0 : ui32} (%x: tensor<4xf32>) {
    mpmd.return %x : tensor<4xf32>
  } : (!m0) -> !m0
  %5 = mpmd.transfer %4 : (!m0) -> !m1
  %6 = mpmd.fragment<mesh="m1", origin=["g"(1)]> (%5) {call_counter = 0 : ui32} (%x: tensor<4xf32>) {
    mpmd.return %x : tensor<4xf32>
  } : (!m1) -> !m1
  %7 = mpmd.transfer %6 : (!m1) -> !m0
  %8 = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%7) {call_counter = 0 : ui32} (%x: tensor<4xf32>) {
    mpmd.return %x : tensor<4xf32>
  } : (!m0) -> !m0
  %9 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 1 : ui32} (%x: tensor<4xf32>) {
    mpmd.return %x : tensor<4xf32>
  } : (!m0) -> !m0
  %10 = mpmd.transfer %9 : (!m0) -> !m1
  %11 = mpmd.fragment<mesh="m1", origin=["g"]> (%10) {call_counter = 1 : ui32} (%x: tensor<4xf32>) {
    mpmd.return %x : tensor<4xf32>
  } : (!m1) -> !m1
  %12 = mpmd.transfer %11 : (!m1) -> !m0
  %13 = mpmd.fragment<mesh="m0", origin=["h"]> (%12) {call_counter = 1 : ui32} (%x: tensor<4xf32>) {
    mpmd.return %x : tensor<4xf32>
  } : (!m0) -> !m0
  return %8, %13 : !m0, !m0
}
