// RUN: mpmd-opt %s -mpmd-merge-forward-with-backward | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>

// CHECK-LABEL: func.func @adjacent
// CHECK-NEXT: %[[M:.*]] = mpmd.fragment<mesh="m0", origin=["f", "f"(1)]> (%arg0) {call_counter = 0 : ui32}
// CHECK-NOT: mpmd.fragment<
func.func @adjacent(%a: !m0, %b: !m1) -> (!m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%0) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %1 : !m0
}

// CHECK-LABEL: func.func @other_meshes_in_between
// CHECK-DAG: origin=["g"]>
// CHECK-DAG: %[[M:.*]]:2 = mpmd.fragment<mesh="m0", origin=["f", "f"(1)]>
// CHECK: mpmd.transfer %[[M]]#0
func.func @other_meshes_in_between(%a: !m0, %b: !m1) -> (!m0, !m1, !m1)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m1", origin=["g"]> (%b) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m1) -> !m1
  %t = mpmd.transfer %0 : (!m0) -> !m1
  %2 = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%0) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %2, %t, %1 : !m0, !m1, !m1
}

// CHECK-LABEL: func.func @same_mesh_in_between
// CHECK: origin=["f"]>
// CHECK: origin=[]>
// CHECK: origin=["f"(1)]>
func.func @same_mesh_in_between(%a: !m0, %b: !m1) -> (!m0, !m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=[]> (%a) (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %2 = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%0) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %2, %1 : !m0, !m0
}

// CHECK-LABEL: func.func @must_wait_for_another_mesh
// CHECK: origin=["f"]>
// CHECK: mpmd.transfer
// CHECK: mpmd.transfer
// CHECK: origin=["f"(1)]>
func.func @must_wait_for_another_mesh(%a: !m0, %b: !m1) -> (!m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %t = mpmd.transfer %0 : (!m0) -> !m1
  %u = mpmd.transfer %t : (!m1) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%0, %u) {call_counter = 0 : ui32} (%x0: tensor<4xf32>, %x1: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0, !m0) -> !m0
  return %1 : !m0
}

// CHECK-LABEL: func.func @independent
// CHECK: origin=["f"]>
// CHECK: origin=["f"(1)]>
func.func @independent(%a: !m0, %b: !m1) -> (!m0, !m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %0, %1 : !m0, !m0
}

// CHECK-LABEL: func.func @backward_first
// CHECK: origin=["f"(1)]>
// CHECK: origin=["f"]>
func.func @backward_first(%a: !m0, %b: !m1) -> (!m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["f"]> (%0) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %1 : !m0
}

// CHECK-LABEL: func.func @other_microbatch
// CHECK: origin=["f"]>
// CHECK: origin=["f"(1)]>
func.func @other_microbatch(%a: !m0, %b: !m1) -> (!m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%0) {call_counter = 1 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %1 : !m0
}

// CHECK-LABEL: func.func @other_stage
// CHECK: origin=["f"], stage=0>
// CHECK: origin=["f"(1)], stage=1>
func.func @other_stage(%a: !m0, %b: !m1) -> (!m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"], stage=0> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["f"(1)], stage=1> (%0) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %1 : !m0
}

// CHECK-LABEL: func.func @second_backward_stays
// CHECK: origin=["f", "f"(1)]>
// CHECK: origin=["g"(1)]>
func.func @second_backward_stays(%a: !m0, %b: !m1) -> (!m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%0) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %2 = mpmd.fragment<mesh="m0", origin=["g"(1)]> (%1) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %2 : !m0
}
