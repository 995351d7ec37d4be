// RUN: mpmd-opt %s -split-input-file -verify-diagnostics -mpmd-scheduling-units-verifier | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>

// CHECK-LABEL: func.func @complete
// CHECK-COUNT-8: mpmd.fragment<
func.func @complete(%a: !m0, %b: !m1) -> (!m0, !m1, !m1, !m0, !m0, !m1, !m1, !m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %f0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %g0 = mpmd.fragment<mesh="m1", origin=["g"]> (%b) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m1) -> !m1
  %h0 = mpmd.fragment<mesh="m1", origin=["g"(1)]> (%b) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m1) -> !m1
  %k0 = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %f1 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 1 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %g1 = mpmd.fragment<mesh="m1", origin=["g"]> (%b) {call_counter = 1 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m1) -> !m1
  %h1 = mpmd.fragment<mesh="m1", origin=["g"(1)]> (%b) {call_counter = 1 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m1) -> !m1
  %k1 = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%a) {call_counter = 1 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %f0, %g0, %h0, %k0, %f1, %g1, %h1, %k1 : !m0, !m1, !m1, !m0, !m0, !m1, !m1, !m0
}

// -----

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>

// Inferred fragments, others without a microbatch and hosts' meshes do not count.
// expected-warning @+4 {{Number of forward scheduling units in mesh m0 does not match expected number for 2 microbatches. Got 3.}}
// expected-warning @+3 {{Number of backward scheduling units in mesh m0 does not match expected number for 2 microbatches. Got 0.}}
// expected-warning @+2 {{Number of forward scheduling units in mesh m1 does not match expected number for 2 microbatches. Got 0.}}
// expected-warning @+1 {{Number of backward scheduling units in mesh m1 does not match expected number for 2 microbatches. Got 1.}}
func.func @incomplete(%a: !m0, %b: !m1) -> (!m0, !m0, !m0, !m1, !m0, !m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>, <"m0/cpu" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 1 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %2 = mpmd.fragment<mesh="m0", origin=["g"]> (%a) {call_counter = 1 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %3 = mpmd.fragment<mesh="m1", origin=["g"(1)]> (%b) {call_counter = 1 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m1) -> !m1
  %4 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %5 = mpmd.fragment<mesh="m0", origin=[]> (%a) {call_counter = 1 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %0, %1, %2, %3, %4, %5 : !m0, !m0, !m0, !m1, !m0, !m0
}

// -----

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>

// CHECK-LABEL: func.func @no_microbatches
func.func @no_microbatches(%a: !m0, %b: !m1) -> (!m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %0 : !m0
}
