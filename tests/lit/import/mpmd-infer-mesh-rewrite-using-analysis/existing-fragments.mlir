// RUN: mpmd-opt %s -mpmd-infer-mesh-populate-use-set -mpmd-infer-mesh-rewrite-using-analysis | FileCheck %s

!t = tensor<4xf32>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>

// The operand that was assigned goes, the operands of what is computed inside come last.
// CHECK-LABEL: func public @only_user
// CHECK-SAME:    %[[A:.*]]: !mpmd.mesh_tensor<"m1", tensor<4xf32>>, %[[Z:.*]]: tensor
func.func public @only_user(%a: !m1, %z: !t) -> !m1 attributes {topology = #topology} {
  // CHECK-NEXT: %[[P:.*]] = mpmd.assign %[[Z]]
  // CHECK-NEXT: %[[F:.*]] = mpmd.fragment<mesh="m1", origin=["f"]> (%[[A]], %[[P]]) {call_counter = 1 : ui32} (%[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
  // CHECK-NEXT:   %[[C:.*]] = stablehlo.constant
  // CHECK-NEXT:   %[[M:.*]] = stablehlo.multiply %[[Y]], %[[C]]
  // CHECK-NEXT:   %[[S:.*]] = stablehlo.add %[[M]], %[[X]]
  // CHECK-NEXT:   mpmd.return %[[S]]
  %c = stablehlo.constant dense<2.0> : !t
  %0 = stablehlo.multiply %z, %c : !t
  %1 = mpmd.assign %0 : (!t) -> !m1
  %2 = mpmd.fragment<mesh="m1", origin=["f"]> (%1, %a) {call_counter = 1 : ui32} (%x: !t, %y: !t) {
    %3 = stablehlo.add %x, %y : !t
    mpmd.return %3 : !t
  } : (!m1, !m1) -> !m1
  // CHECK: return %[[F]]
  return %2 : !m1
}

// What is cheap is repeated in each fragment, what is not has one of its own.
// CHECK-LABEL: func public @two_users
func.func public @two_users(%a: !m1, %z: !t) -> (!m1, !m1) attributes {topology = #topology} {
  %c = stablehlo.constant dense<2.0> : !t
  %0 = mpmd.assign %c : (!t) -> !m1
  // CHECK:      mpmd.fragment<mesh="m1", origin=[]>
  // CHECK-NEXT:   stablehlo.multiply
  %1 = stablehlo.multiply %z, %z : !t
  %2 = mpmd.assign %1 : (!t) -> !m1
  // CHECK:      mpmd.fragment<mesh="m1", origin=["f"]> (%{{[0-9]+}})
  // CHECK-NEXT:   stablehlo.constant
  %3 = mpmd.fragment<mesh="m1", origin=["f"]> (%0, %2) (%x: !t, %y: !t) {
    %5 = stablehlo.add %x, %y : !t
    mpmd.return %5 : !t
  } : (!m1, !m1) -> !m1
  // CHECK:      mpmd.fragment<mesh="m1", origin=["g"]> (%{{[0-9]+}})
  // CHECK-NEXT:   stablehlo.constant
  %4 = mpmd.fragment<mesh="m1", origin=["g"]> (%0, %2) (%x: !t, %y: !t) {
    %5 = stablehlo.add %x, %y : !t
    mpmd.return %5 : !t
  } : (!m1, !m1) -> !m1
  return %3, %4 : !m1, !m1
}

// CHECK-LABEL: func public @returned_too
func.func public @returned_too(%a: !m1) -> (!m1, !m1) attributes {topology = #topology} {
  // CHECK:      mpmd.fragment<mesh="m1", origin=[]> ()
  // CHECK-NEXT:   stablehlo.constant
  // CHECK:      %[[P:.*]] = mpmd.assign
  // CHECK:      mpmd.fragment<mesh="m1", origin=["f"]> (%[[P]], %arg0)
  %c = stablehlo.constant dense<2.0> : !t
  %0 = mpmd.assign %c : (!t) -> !m1
  %1 = mpmd.fragment<mesh="m1", origin=["f"]> (%0, %a) (%x: !t, %y: !t) {
    %2 = stablehlo.add %x, %y : !t
    mpmd.return %2 : !t
  } : (!m1, !m1) -> !m1
  return %0, %1 : !m1, !m1
}
