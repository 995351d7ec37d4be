// An order that a schedule left behind holds when fragments merge.
// RUN: mpmd-opt %s -mpmd-rule-based-schedule='rules=FragmentScheduleRule(ordered_fragments=[FragmentInfo(origins=["g"],call_counter=0,mesh_name="m0")->FragmentInfo(origins=["f"],call_counter=0,mesh_name="m0")]) remove-control-dependencies=false' -mpmd-rule-based-merge='rules=FragmentMergeRule(sources=[FragmentInfo(origins=["f"],call_counter=0,mesh_name="m0"),FragmentInfo(origins=["h"],call_counter=0,mesh_name="m0")],target=FragmentInfo(origins=["h","f"],call_counter=0,mesh_name="m0"))' | FileCheck %s --check-prefix=KEPT
// RUN: mpmd-opt %s -mpmd-rule-based-schedule='rules=FragmentScheduleRule(ordered_fragments=[FragmentInfo(origins=["g"],call_counter=0,mesh_name="m0")->FragmentInfo(origins=["f"],call_counter=0,mesh_name="m0")])' -mpmd-rule-based-merge='rules=FragmentMergeRule(sources=[FragmentInfo(origins=["f"],call_counter=0,mesh_name="m0"),FragmentInfo(origins=["h"],call_counter=0,mesh_name="m0")],target=FragmentInfo(origins=["h","f"],call_counter=0,mesh_name="m0"))' | FileCheck %s --check-prefix=FORGOTTEN

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>

// g has to come before f, so that f and h cannot take the place of h.
// KEPT-LABEL: func.func @order_is_kept
// KEPT-NOT: mpmd.order
// KEPT: origin=["g"]
// KEPT-NOT: mpmd.order
// KEPT: origin=["h", "f"]
// KEPT-NOT: mpmd.order
// FORGOTTEN-LABEL: func.func @order_is_kept
// FORGOTTEN: origin=["h", "f"]
// FORGOTTEN: origin=["g"]
func.func @order_is_kept(%a: !m0, %b: !m1) -> (!m0, !m0, !m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["h"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["g"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %2 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %0, %1, %2 : !m0, !m0, !m0
}
