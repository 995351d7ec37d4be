// RUN: mpmd-opt %s -mpmd-rule-based-merge='rules=FragmentMergeRule(sources=[FragmentInfo(origins=["f"],call_counter=0,mesh_name="m0"),FragmentInfo(origins=["g"],call_counter=0,mesh_name="m0")],target=FragmentInfo(origins=["f","g"],call_counter=0,mesh_name="m0")),FragmentMergeRule(sources=[FragmentInfo(origins=["f","g"],call_counter=0,mesh_name="m0"),FragmentInfo(origins=["h"],call_counter=0,mesh_name="m0")],target=FragmentInfo(origins=["all"(1)],stage=7,call_counter=3,split_type=kDropTransferred,mesh_name="m0"))' 2>/dev/null | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>

// The results are those of the sources that are used, each operand is passed once.
// CHECK-LABEL: func.func @producer_and_consumer
// CHECK-NEXT: %[[M:.*]]:2 = mpmd.fragment<mesh="m0", origin=["f", "g"]> (%arg0) {call_counter = 0 : ui32} (%[[X:.*]]: tensor<4xf32>) {
// CHECK-NEXT:   mpmd.return %[[X]], %[[X]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[M]]#1, %[[M]]#0
func.func @producer_and_consumer(%a: !m0, %b: !m1) -> (!m0, !m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0:3 = mpmd.fragment<mesh="m0", origin=["f"]> (%a, %a) {call_counter = 0 : ui32, foo} (%x0: tensor<4xf32>, %x1: tensor<4xf32>) {
    mpmd.return %x0, %x1, %x0 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  } : (!m0, !m0) -> (!m0, !m0, !m0)
  %1 = mpmd.fragment<mesh="m0", origin=["g"]> (%0#2, %a) {call_counter = 0 : ui32, bar} (%x0: tensor<4xf32>, %x1: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0, !m0) -> !m0
  return %1, %0#1 : !m0, !m0
}

// The merged fragment takes the place of the first source...
// CHECK-LABEL: func.func @place
// CHECK: origin=["f", "g"]
// CHECK: origin=["other"]
func.func @place(%a: !m0, %b: !m1) -> (!m0, !m0, !m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["other"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %2 = mpmd.fragment<mesh="m0", origin=["g"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %0, %1, %2 : !m0, !m0, !m0
}

// ... unless the second one needs something made in between.
// CHECK-LABEL: func.func @place_after_operands
// CHECK: %[[OTHER:.*]] = mpmd.fragment<mesh="m0", origin=["other"]>
// CHECK: origin=["f", "g"]> (%arg0, %[[OTHER]])
func.func @place_after_operands(%a: !m0, %b: !m1) -> (!m0, !m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["other"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %2 = mpmd.fragment<mesh="m0", origin=["g"]> (%1) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %0, %2 : !m0, !m0
}

// A rule goes on from the target of another one, and the target says what the result is.
// CHECK-LABEL: func.func @chained
// CHECK-NEXT: mpmd.fragment<mesh="m0", origin=["all"(1)], stage=7> (%arg0) {call_counter = 3 : ui32, split_drop_transferred}
// CHECK-NOT: fragment<
func.func @chained(%a: !m0, %b: !m1) -> (!m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["g"]> (%0) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %2 = mpmd.fragment<mesh="m0", origin=["h"]> (%1) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %2 : !m0
}

// A rule with one source is no merge.
// CHECK-LABEL: func.func @source_missing
// CHECK: origin=["f"]> (%arg0) {call_counter = 0 : ui32, foo}
func.func @source_missing(%a: !m0, %b: !m1) -> (!m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 0 : ui32, foo} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %0 : !m0
}

// Bodies of equal merges are shared.
// CHECK-LABEL: func.func @calls
// CHECK-NEXT: %[[M:.*]] = mpmd.fragment_call<mesh="m0", origin=["f", "g"]> @[[BODY:.*]](%arg0) {call_counter = 0 : ui32}
// CHECK-NEXT: return %[[M]]
// CHECK: func.func private @[[BODY]](%[[A:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[S:.*]] = stablehlo.add %[[A]], %[[A]]
// CHECK-NEXT: %[[T:.*]] = stablehlo.add %[[S]], %[[S]]
// CHECK-NEXT: return %[[T]]
func.func @calls(%a: !m0, %b: !m1) -> (!m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment_call<mesh="m0", origin=["f"]> @twice(%a) {call_counter = 0 : ui32} : (!m0) -> !m0
  %1 = mpmd.fragment_call<mesh="m0", origin=["g"]> @twice(%0) {call_counter = 0 : ui32} : (!m0) -> !m0
  return %1 : !m0
}
func.func private @twice(%a: tensor<4xf32>) -> tensor<4xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
