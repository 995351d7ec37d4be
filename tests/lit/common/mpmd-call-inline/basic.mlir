// RUN: mpmd-opt %s -mpmd-call-inline | FileCheck %s
// RUN: mpmd-opt %s -mpmd-outline-fragments -mpmd-call-inline -symbol-dce | FileCheck %s --check-prefix=CALL

!m0 = !mpmd.mesh_tensor<"m0", tensor<8xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<8xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>>

// Attributes of the call go onto fragments, not onto transfers, and replace those that are there.
// CHECK-LABEL: func.func public @main
// CHECK: %[[F0:.*]] = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0) {call_counter = 0 : ui32, note = "n"} (
// CHECK: %[[T0:.*]] = mpmd.transfer %[[F0]] : (
// CHECK: %[[G0:.*]] = mpmd.fragment<mesh="m1", origin=["g"]> (%[[T0]], %arg1) {call_counter = 0 : ui32, note = "n"} (
// CHECK: %[[F1:.*]] = mpmd.fragment<mesh="m0", origin=["f"]> (%[[F0]]) {call_counter = 1 : ui32, note = "g"} (
// CHECK: %[[T1:.*]] = mpmd.transfer %[[F1]] : (
// CHECK: %[[G1:.*]] = mpmd.fragment<mesh="m1", origin=["g"]> (%[[T1]], %[[G0]]) {call_counter = 1 : ui32, note = "g"} (
// CHECK: %[[I:.*]] = mpmd.fragment<mesh="m1", origin=[]> (%[[G1]]) (
// CHECK-NOT: mpmd.call
// CHECK: return %[[I]], %[[F1]]
// CALL-LABEL: func.func public @main
// CALL: @f_fwd(%arg0) {call_counter = 0 : ui32, note = "n"}
// CALL: @g_fwd({{.*}}) {call_counter = 0 : ui32, note = "n"}
// CALL: @f_fwd({{.*}}) {call_counter = 1 : ui32, note = "g"}
// CALL: @g_fwd({{.*}}) {call_counter = 1 : ui32, note = "g"}
// CALL: @inferred(
func.func public @main(%a: !m0, %b: !m1) -> (!m1, !m0) attributes {topology = #topology} {
  %0:2 = mpmd.call @microbatch(%a, %b) {call_counter = 0 : ui32} : (!m0, !m1) -> (!m0, !m1)
  %1:2 = mpmd.call @microbatch(%0#0, %0#1) {call_counter = 1 : ui32, note = "g"} : (!m0, !m1) -> (!m0, !m1)
  %2 = mpmd.fragment<mesh="m1", origin=[]> (%1#1) (%p: tensor<8xf32>) {
    mpmd.return %p : tensor<8xf32>
  } : (!m1) -> !m1
  return %2, %1#0 : !m1, !m0
}

// The callee stays; each body is one function for all microbatches.
// CHECK-LABEL: func.func private @microbatch
// CALL-NOT: @microbatch
// CALL-DAG: func.func private @f_fwd
// CALL-DAG: func.func private @g_fwd
// CALL-DAG: func.func private @inferred
func.func private @microbatch(%a: !m0, %b: !m1) -> (!m0, !m1) attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {note = "n"} (%p: tensor<8xf32>) {
    %r = stablehlo.add %p, %p : tensor<8xf32>
    mpmd.return %r : tensor<8xf32>
  } : (!m0) -> !m0
  %t = mpmd.transfer %0 : (!m0) -> !m1
  %1 = mpmd.fragment<mesh="m1", origin=["g"]> (%t, %b) {note = "n"} (%p: tensor<8xf32>, %q: tensor<8xf32>) {
    %r = stablehlo.multiply %p, %q : tensor<8xf32>
    mpmd.return %r : tensor<8xf32>
  } : (!m1, !m1) -> !m1
  return %0, %1 : !m0, !m1
}

// What is called by func.call stays called.
// CHECK-LABEL: func.func public @other
// CHECK: call @plain
func.func public @other(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = func.call @plain(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func private @plain(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
