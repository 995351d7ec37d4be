// What is no scheduling unit keeps its place, and fragments of one task their order.
// RUN: mpmd-opt %s -mpmd-pipeline-scheduler=must-happen-before=builtin:GPipe | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>

// CHECK-LABEL: func.func @no_unit_moves
// CHECK: origin=["f"(1)]>{{.*}}{
// CHECK: origin=["f"]>{{.*}}{
// CHECK: origin=["f", "f"(1)]>{{.*}}call_counter = 0
// CHECK: origin=[]>{{.*}}call_counter = 1
// CHECK: origin=["f"(2)]>{{.*}}call_counter = 0
// CHECK: origin=["f"]>{{.*}}call_counter = 0
func.func @no_unit_moves(%a: !m0, %b: !m1) -> (!m0, !m0, !m0, !m0, !m0, !m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%a) (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %2 = mpmd.fragment<mesh="m0", origin=["f", "f"(1)]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %3 = mpmd.fragment<mesh="m0", origin=[]> (%a) {call_counter = 1 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %4 = mpmd.fragment<mesh="m0", origin=["f"(2)]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %5 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %0, %1, %2, %3, %4, %5 : !m0, !m0, !m0, !m0, !m0, !m0
}

// CHECK-LABEL: func.func @fragments_of_a_task_stay_in_order
// CHECK: origin=["f"]>{{.*}}call_counter = 0
// CHECK: origin=["g"]>{{.*}}call_counter = 0
// CHECK: origin=["f"]>{{.*}}call_counter = 1
// CHECK: origin=["g"]>{{.*}}call_counter = 1
// CHECK: origin=["g"(1)]>{{.*}}call_counter = 0
// CHECK: origin=["f"(1)]>{{.*}}call_counter = 0
func.func @fragments_of_a_task_stay_in_order(%a: !m0, %b: !m1) -> (!m0, !m0, !m0, !m0, !m0, !m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["g"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %2 = mpmd.fragment<mesh="m0", origin=["g"(1)]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %3 = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %4 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 1 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %5 = mpmd.fragment<mesh="m0", origin=["g"]> (%a) {call_counter = 1 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %0, %1, %2, %3, %4, %5 : !m0, !m0, !m0, !m0, !m0, !m0
}

// The backward on m1 and what follows from it wait for the forward, nothing else does.
// CHECK-LABEL: func.func @only_what_must_wait_moves
// CHECK: origin=["other"]
// CHECK: origin=["f"]>{{.*}}call_counter = 0
// CHECK: mpmd.transfer
// CHECK: origin=["f"]>{{.*}}call_counter = 1
// CHECK: origin=["f"(1)]>{{.*}}call_counter = 0
// CHECK: mpmd.transfer
func.func @only_what_must_wait_moves(%a: !m0, %b: !m1) -> (!m0, !m0, !m0, !m1)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %o = mpmd.fragment<mesh="m0", origin=["other"]> (%a) (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%b) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m1) -> !m1
  %t = mpmd.transfer %0 : (!m1) -> !m0
  %1 = mpmd.fragment<mesh="m1", origin=["f"(1)]> (%0) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m1) -> !m1
  %u = mpmd.transfer %1 : (!m1) -> !m0
  %2 = mpmd.fragment<mesh="m1", origin=["f"]> (%b) {call_counter = 1 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m1) -> !m1
  return %o, %t, %u, %2 : !m0, !m0, !m0, !m1
}

// CHECK-LABEL: func.func @calls_are_fragments_too
// CHECK: fragment_call<{{.*}}origin=["f"]>{{.*}}call_counter = 0
// CHECK: fragment_call<{{.*}}origin=["f"]>{{.*}}call_counter = 1
// CHECK: fragment_call<{{.*}}origin=["f"(1)]>{{.*}}call_counter = 0
func.func @calls_are_fragments_too(%a: !m0, %b: !m1) -> (!m0, !m0, !m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment_call<mesh="m0", origin=["f"]> @body(%a) {call_counter = 0 : ui32} : (!m0) -> !m0
  %1 = mpmd.fragment_call<mesh="m0", origin=["f"(1)]> @body(%a) {call_counter = 0 : ui32} : (!m0) -> !m0
  %2 = mpmd.fragment_call<mesh="m0", origin=["f"]> @body(%a) {call_counter = 1 : ui32} : (!m0) -> !m0
  return %0, %1, %2 : !m0, !m0, !m0
}
func.func private @body(%a: tensor<4xf32>) -> tensor<4xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  return %a : tensor<4xf32>
}
