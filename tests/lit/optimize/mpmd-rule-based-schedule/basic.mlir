// RUN: mpmd-opt %s -mpmd-rule-based-schedule='rules=FragmentScheduleRule(ordered_fragments=[FragmentInfo(origins=["f"],call_counter=1,mesh_name="m0")->FragmentInfo(origins=["f"(1)],call_counter=0,mesh_name="m0")->FragmentInfo(origins=["g"],call_counter=0,mesh_name="m0")]),FragmentScheduleRule(ordered_fragments=[FragmentInfo(origins=["h"],call_counter=0,mesh_name="m1")->FragmentInfo(origins=["h"],call_counter=1,mesh_name="m1")])' 2>&1 | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>

// CHECK: warning: Fragment FragmentInfo(origins=["f"(1)],call_counter=0,mesh_name="m0") doesn't exist. Skipping this rule.

// Both rules hold; g waits for a fragment that waits itself, and so comes last.
// CHECK-LABEL: func.func @reorders
// CHECK: origin=["f"]>{{.*}}call_counter = 0
// CHECK: origin=["f"]>{{.*}}call_counter = 1
// CHECK: origin=["h"]>{{.*}}call_counter = 0
// CHECK: origin=["f"(1)]>{{.*}}call_counter = 0
// CHECK: origin=["h"]>{{.*}}call_counter = 1
// CHECK: origin=["g"]>{{.*}}call_counter = 0
func.func @reorders(%a: !m0, %b: !m1) -> (!m0, !m0, !m0, !m1, !m0, !m1)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["g"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %2 = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %3 = mpmd.fragment<mesh="m1", origin=["h"]> (%b) {call_counter = 1 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m1) -> !m1
  %4 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 1 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %5 = mpmd.fragment<mesh="m1", origin=["h"]> (%b) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m1) -> !m1
  return %0, %1, %2, %3, %4, %5 : !m0, !m0, !m0, !m1, !m0, !m1
}

// A pair one of which does not exist is skipped, the other pairs are not.
// CHECK-LABEL: func.func @missing_fragment
// CHECK: origin=["g"]>{{.*}}call_counter = 0
// CHECK: origin=["f"]>{{.*}}call_counter = 1
// CHECK: origin=["h"]>{{.*}}call_counter = 0
// CHECK: origin=["h"]>{{.*}}call_counter = 1
func.func @missing_fragment(%a: !m0, %b: !m1) -> (!m0, !m0, !m1, !m1)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["g"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 1 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %2 = mpmd.fragment<mesh="m1", origin=["h"]> (%b) {call_counter = 1 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m1) -> !m1
  %3 = mpmd.fragment<mesh="m1", origin=["h"]> (%b) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m1) -> !m1
  return %0, %1, %2, %3 : !m0, !m0, !m1, !m1
}
