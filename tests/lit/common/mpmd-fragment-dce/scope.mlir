// RUN: mpmd-opt %s -mpmd-fragment-dce | FileCheck %s

!t = tensor<4xf32>
!m = !mpmd.mesh_tensor<"m", tensor<4xf32>>
#topology = #mpmd.topology<<"m": <["x"=2]>>>

// Only fragments and transfers go, in every function with a topology, whatever it takes.
// CHECK-LABEL: func @plain_tensors
func.func @plain_tensors(%a: !t) -> !t attributes {topology = #topology} {
  // CHECK-NEXT: mpmd.assign
  // CHECK-NEXT: stablehlo.sine
  // CHECK-NEXT: return
  %0 = mpmd.assign %a : (!t) -> !m
  %1 = mpmd.fragment<mesh="m", origin=["f"]> (%0) (%x: !t) {
    mpmd.return %x : !t
  } : (!m) -> !m
  %2 = mpmd.transfer %1 : (!m) -> !m
  %3 = stablehlo.sine %a : !t
  return %a : !t
}

// CHECK-LABEL: func @no_values
func.func @no_values() attributes {topology = #topology} {
  // CHECK-NEXT: return
  %0 = mpmd.fragment<mesh="m", origin=["f"]> () () {
    %1 = stablehlo.constant dense<1.0> : !t
    mpmd.return %1 : !t
  } : () -> !m
  return
}
