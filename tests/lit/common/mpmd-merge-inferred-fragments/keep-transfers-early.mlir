// RUN: mpmd-opt %s -mpmd-merge-inferred-fragments | FileCheck %s --check-prefix=LATE
// RUN: mpmd-opt %s -mpmd-merge-inferred-fragments=keep-transfers-early | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>

// What m0 sends must not wait for what it receives: the sum of its own is made where its operand is.
// LATE-LABEL:   func.func @norm
// LATE:           fragment<mesh="m0", origin=["f"]>
// LATE-NOT:       mesh="m0"
// LATE:           fragment<mesh="m1", origin=["g"]>
// LATE-NEXT:        negate
// LATE-NEXT:        return
// LATE:           fragment<mesh="m0", origin=[]>
// LATE-NEXT:        add
// LATE-NEXT:        multiply
// CHECK-LABEL:  func.func @norm
// CHECK:          fragment<mesh="m0", origin=["f"]>
// CHECK-NEXT:       negate
// CHECK-NEXT:       add
// CHECK-NEXT:       return
// CHECK:          fragment<mesh="m1", origin=["g"]>
// CHECK-NEXT:       negate
// CHECK-NEXT:       return
// CHECK:          fragment<mesh="m0", origin=[]>
// CHECK-NEXT:       multiply
func.func @norm(%a: !m0, %b: !m1) -> (!m0, !m1, !m1)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x: tensor<4xf32>) {
    %n = stablehlo.negate %x : tensor<4xf32>
    mpmd.return %n : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.transfer %0 : (!m0) -> !m1
  %2 = mpmd.fragment<mesh="m1", origin=["g"]> (%b) (%x: tensor<4xf32>) {
    %n = stablehlo.negate %x : tensor<4xf32>
    mpmd.return %n : tensor<4xf32>
  } : (!m1) -> !m1
  %3 = mpmd.transfer %2 : (!m1) -> !m0
  %4 = mpmd.fragment<mesh="m0", origin=[]> (%0) (%x: tensor<4xf32>) {
    %n = stablehlo.add %x, %x : tensor<4xf32>
    mpmd.return %n : tensor<4xf32>
  } : (!m0) -> !m0
  %5 = mpmd.transfer %4 : (!m0) -> !m1
  %6 = mpmd.fragment<mesh="m0", origin=[]> (%4, %3) (%x: tensor<4xf32>, %y: tensor<4xf32>) {
    %n = stablehlo.multiply %x, %y : tensor<4xf32>
    mpmd.return %n : tensor<4xf32>
  } : (!m0, !m0) -> !m0
  return %6, %1, %5 : !m0, !m1, !m1
}
