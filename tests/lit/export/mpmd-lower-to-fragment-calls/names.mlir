// RUN: mpmd-opt %s -split-input-file -mpmd-lower-to-fragment-calls | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<f32>>

// A module with backward fragments says which ones are forward ones.
// CHECK-LABEL: module @step
module @step {
  // CHECK: @p0_f_fwd.step(
  // CHECK: @p1_f_bwd.step(
  // CHECK: @p2_stage3_fwd_bwd.step(
  // CHECK: @p3_a..._transpose2_call7.step(
  // CHECK: @p4_inferred_call2.step(
  func.func @main(%a: !m0) -> !m0 attributes {topology = #mpmd.topology<<"m0": <["x"=2]>>>} {
    %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x: tensor<f32>) {
      %5 = stablehlo.add %x, %x : tensor<f32>
      mpmd.return %5 : tensor<f32>
    } : (!m0) -> !m0
    %1 = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%0) (%x: tensor<f32>) {
      %5 = stablehlo.subtract %x, %x : tensor<f32>
      mpmd.return %5 : tensor<f32>
    } : (!m0) -> !m0
    %2 = mpmd.fragment<mesh="m0", origin=["g", "g"(1)], stage=3> (%1) (%x: tensor<f32>) {
      %5 = stablehlo.multiply %x, %x : tensor<f32>
      mpmd.return %5 : tensor<f32>
    } : (!m0) -> !m0
    %3 = mpmd.fragment<mesh="m0", origin=["b"(2), "a"(2)]> (%2) {call_counter = 7 : ui32} (%x: tensor<f32>) {
      %5 = stablehlo.divide %x, %x : tensor<f32>
      mpmd.return %5 : tensor<f32>
    } : (!m0) -> !m0
    %4 = mpmd.fragment<mesh="m0", origin=[]> (%3) {call_counter = 2 : ui32} (%x: tensor<f32>) {
      mpmd.return %x : tensor<f32>
    } : (!m0) -> !m0
    return %4 : !m0
  }
}

// -----

!m0 = !mpmd.mesh_tensor<"m0", tensor<f32>>

// A name in use is avoided, and labels may hold any character.
// CHECK-LABEL: func.func @other(
// CHECK: @p0_f.main_0(
// CHECK: @"p1_my layer/0.main"(
func.func @other(%a: !m0) -> !m0 attributes {topology = #mpmd.topology<<"m0": <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x: tensor<f32>) {
    %5 = stablehlo.add %x, %x : tensor<f32>
    mpmd.return %5 : tensor<f32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["my layer/0"]> (%0) (%x: tensor<f32>) {
    mpmd.return %x : tensor<f32>
  } : (!m0) -> !m0
  return %1 : !m0
}
func.func private @p0_f.main(%a: tensor<f32>) -> tensor<f32> {
  return %a : tensor<f32>
}

// -----

!m0 = !mpmd.mesh_tensor<"m0", tensor<f32>>

// Calls that count up or down by one are a range; others are not told.
// CHECK-LABEL: func.func @ranges(
// CHECK: @p0_up_calls2to3.main(
// CHECK: @p0_up_calls2to3.main(
// CHECK: @p1_down_calls1from0.main(
// CHECK: @p1_down_calls1from0.main(
// CHECK: @p2_gap.main(
// CHECK: @p2_gap.main(
func.func @ranges(%a: !m0) -> !m0 attributes {topology = #mpmd.topology<<"m0": <["x"=2]>>>} {
  %0 = mpmd.fragment_call<mesh="m0", origin=["up"]> @negate(%a) {call_counter = 2 : ui32} : (!m0) -> !m0
  %1 = mpmd.fragment_call<mesh="m0", origin=["up"]> @negate(%0) {call_counter = 3 : ui32} : (!m0) -> !m0
  %2 = mpmd.fragment_call<mesh="m0", origin=["down"]> @sine(%1) {call_counter = 1 : ui32} : (!m0) -> !m0
  %3 = mpmd.fragment_call<mesh="m0", origin=["down"]> @sine(%2) {call_counter = 0 : ui32} : (!m0) -> !m0
  %4 = mpmd.fragment_call<mesh="m0", origin=["gap"]> @cosine(%3) {call_counter = 0 : ui32} : (!m0) -> !m0
  %5 = mpmd.fragment_call<mesh="m0", origin=["gap"]> @cosine(%4) {call_counter = 2 : ui32} : (!m0) -> !m0
  return %5 : !m0
}
func.func private @negate(%a: tensor<f32>) -> tensor<f32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  %0 = stablehlo.negate %a : tensor<f32>
  return %0 : tensor<f32>
}
func.func private @sine(%a: tensor<f32>) -> tensor<f32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  %0 = stablehlo.sine %a : tensor<f32>
  return %0 : tensor<f32>
}
func.func private @cosine(%a: tensor<f32>) -> tensor<f32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  %0 = stablehlo.cosine %a : tensor<f32>
  return %0 : tensor<f32>
}
