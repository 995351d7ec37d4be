// RUN: not mpmd-opt %s -mpmd-rule-based-schedule='rules=FragmentScheduleRule(ordered_fragments=[FragmentInfo(origins=["f"],call_counter=0,mesh_name="m0")->FragmentInfo(origins=["g"],call_counter=0,mesh_name="m0")]),FragmentScheduleRule(ordered_fragments=[FragmentInfo(origins=["g"],call_counter=0,mesh_name="m0")->FragmentInfo(origins=["f"],call_counter=0,mesh_name="m0")])' 2>&1 | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>

// CHECK: error: Cycle detected in the program, not all fragments could be properly scheduled. Each of these has to come before the next: FragmentInfo(origins=["{{[fg]}}"],call_counter=0,mesh_name="m0") -> FragmentInfo(origins=["{{[fg]}}"],call_counter=0,mesh_name="m0") -> FragmentInfo(origins=["{{[fg]}}"]
func.func @contradiction(%a: !m0, %b: !m1) -> (!m0, !m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["g"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %0, %1 : !m0, !m0
}
