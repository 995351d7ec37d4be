// Fragments are told apart by stage, split type and mesh as well.
// RUN: mpmd-opt %s -mpmd-rule-based-schedule='rules=FragmentScheduleRule(ordered_fragments=[FragmentInfo(origins=["f"(1)],stage=1,call_counter=0,split_type=kKeepTransferred,mesh_name="m0")->FragmentInfo(origins=["f"(1)],stage=1,call_counter=0,split_type=kDropTransferred,mesh_name="m0")])' | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>

// CHECK-LABEL: func.func @identity
// CHECK: split_keep_transferred
// CHECK: split_drop_transferred
func.func @identity(%a: !m0, %b: !m1) -> (!m0, !m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"(1)], stage=1> (%a) {call_counter = 0 : ui32, split_drop_transferred} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["f"(1)], stage=1> (%a) {call_counter = 0 : ui32, split_keep_transferred} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %0, %1 : !m0, !m0
}

// Here the stage is another one.
// CHECK-LABEL: func.func @other_stage
// CHECK: split_drop_transferred
// CHECK: split_keep_transferred
func.func @other_stage(%a: !m0, %b: !m1) -> (!m0, !m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"(1)], stage=2> (%a) {call_counter = 0 : ui32, split_drop_transferred} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["f"(1)], stage=1> (%a) {call_counter = 0 : ui32, split_keep_transferred} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %0, %1 : !m0, !m0
}
