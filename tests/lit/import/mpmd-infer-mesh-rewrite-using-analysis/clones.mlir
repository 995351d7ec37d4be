// RUN: mpmd-opt %s -mpmd-infer-mesh-populate-use-set -mpmd-infer-mesh-rewrite-using-analysis | FileCheck %s
// RUN: mpmd-opt %s -mpmd-infer-mesh-populate-use-set -mpmd-infer-mesh-rewrite-using-analysis=max-clones=2 | FileCheck %s --check-prefix=TWO

!t = tensor<4x8xf32>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>, <"m3": <["x"=2]>>>

// CHECK-LABEL: func @two_operands
// CHECK-COUNT-1: stablehlo.add
// CHECK-NOT:     stablehlo.add
// CHECK:         return
// TWO-LABEL:   func @two_operands
// TWO-COUNT-2:   stablehlo.add
func.func @two_operands(%a: !m1, %b: !m1) -> (!m1, !m1) attributes {topology = #topology} {
  %0 = mpmd.unassign %a : (!m1) -> !t
  %1 = mpmd.unassign %b : (!m1) -> !t
  %2 = stablehlo.add %0, %1 : !t
  %3 = stablehlo.sine %2 : !t
  %4 = stablehlo.cosine %2 : !t
  %5 = mpmd.assign %3 : (!t) -> !m1
  %6 = mpmd.assign %4 : (!t) -> !m1
  return %5, %6 : !m1, !m1
}

// Cheap computations are repeated as often as it takes.
// CHECK-LABEL: func @cheap
// CHECK-COUNT-3: stablehlo.constant
func.func @cheap() -> (!m1, !m1, !m1) attributes {topology = #topology} {
  %0 = stablehlo.constant dense<1.0> : !t
  %1 = stablehlo.sine %0 : !t
  %2 = stablehlo.cosine %0 : !t
  %3 = stablehlo.tanh %0 : !t
  %4 = mpmd.assign %1 : (!t) -> !m1
  %5 = mpmd.assign %2 : (!t) -> !m1
  %6 = mpmd.assign %3 : (!t) -> !m1
  return %4, %5, %6 : !m1, !m1, !m1
}
