// RUN: mpmd-opt %s -mpmd-merge-user-fragments-into-scheduling-units | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>

// CHECK-LABEL: func.func @chain
// CHECK-NEXT: %[[M:.*]] = mpmd.fragment<mesh="m0", origin=["f", "g", "h"]> (%arg0) {call_counter = 0 : ui32}
// CHECK-NOT: mpmd.fragment<
func.func @chain(%a: !m0, %b: !m1) -> (!m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["g"]> (%0) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %2 = mpmd.fragment<mesh="m0", origin=["h"]> (%1, %0) {call_counter = 0 : ui32} (%x0: tensor<4xf32>, %x1: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0, !m0) -> !m0
  return %2 : !m0
}

// Only the call counter of the attributes stays.
// CHECK-LABEL: func.func @backward
// CHECK-NEXT: mpmd.fragment<mesh="m0", origin=["f"(1), "g"(1)]> (%arg0) {call_counter = 0 : ui32}
func.func @backward(%a: !m0, %b: !m1) -> (!m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%a) {call_counter = 0 : ui32, foo} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["g"(1)]> (%0) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %1 : !m0
}

// CHECK-LABEL: func.func @microbatches
// CHECK: origin=["f"]> (%arg0) {call_counter = 0
// CHECK: origin=["g"]> (%{{.*}}) {call_counter = 1
func.func @microbatches(%a: !m0, %b: !m1) -> (!m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["g"]> (%0) {call_counter = 1 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %1 : !m0
}

// CHECK-LABEL: func.func @directions
// CHECK: origin=["f"]>
// CHECK: origin=["g"(1)]>
func.func @directions(%a: !m0, %b: !m1) -> (!m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["g"(1)]> (%0) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %1 : !m0
}

// What has no stage joins that of its neighbour.
// CHECK-LABEL: func.func @stages
// CHECK: origin=["f", "g"], stage=1>
// CHECK: origin=["h", "i"], stage=2>
func.func @stages(%a: !m0, %b: !m1) -> (!m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"], stage=1> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["g"], stage=1> (%0) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %2 = mpmd.fragment<mesh="m0", origin=["h"], stage=2> (%1) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %3 = mpmd.fragment<mesh="m0", origin=["i"]> (%2) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %3 : !m0
}

// CHECK-LABEL: func.func @independent
// CHECK: origin=["f"]>
// CHECK: origin=["g"]>
func.func @independent(%a: !m0, %b: !m1) -> (!m0, !m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["g"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %0, %1 : !m0, !m0
}

// CHECK-LABEL: func.func @inferred
// CHECK: origin=["f"]>
// CHECK: origin=[]>
// CHECK: origin=["g"]>
func.func @inferred(%a: !m0, %b: !m1) -> (!m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=[]> (%0) (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %2 = mpmd.fragment<mesh="m0", origin=["g"]> (%1) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %2 : !m0
}

// CHECK-LABEL: func.func @through_another_mesh
// CHECK: origin=["f"]>
// CHECK: origin=["g"]>
func.func @through_another_mesh(%a: !m0, %b: !m1) -> (!m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %t = mpmd.transfer %0 : (!m0) -> !m1
  %u = mpmd.transfer %t : (!m1) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["g"]> (%0, %u) {call_counter = 0 : ui32} (%x0: tensor<4xf32>, %x1: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0, !m0) -> !m0
  return %1 : !m0
}

// CHECK-LABEL: func.func @several_transpose_counts
// CHECK: origin=["f", "f"(1)]>
// CHECK: origin=["g"]>
func.func @several_transpose_counts(%a: !m0, %b: !m1) -> (!m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f", "f"(1)]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["g"]> (%0) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %1 : !m0
}
