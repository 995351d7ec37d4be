// RUN: mpmd-opt %s -mpmd-outline-fragments | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<8xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<8xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>, <"m2": <["x"=4]>>>

// Equal bodies share a function across functions, microbatches, labels and meshes of one shape.
// CHECK-LABEL: func.func public @main
// CHECK: mpmd.fragment_call<mesh="m0", origin=["enc"]> @[[ENC:enc_fwd]](%arg0) {call_counter = 0 : ui32, stage_id = 3 : i64}
// CHECK: mpmd.fragment_call<mesh="m1", origin=["dec"(1)]> @[[ENC]](
// CHECK-NOT: = mpmd.fragment<
func.func public @main(%a: !m0) -> !m1 attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=["enc"], stage=3> (%a) {call_counter = 0 : ui32} (%p: tensor<8xf32>) {
    %r = stablehlo.add %p, %p : tensor<8xf32>
    mpmd.return %r : tensor<8xf32>
  } : (!m0) -> !m0
  %t = mpmd.transfer %x : (!m0) -> !m1
  %y = mpmd.fragment<mesh="m1", origin=["dec"(1)]> (%t) (%p: tensor<8xf32>) {
    %r = stablehlo.add %p, %p : tensor<8xf32>
    mpmd.return %r : tensor<8xf32>
  } : (!m1) -> !m1
  return %y : !m1
}

// CHECK-LABEL: func.func private @callee
// CHECK: mpmd.fragment_call<mesh="m0", origin=["a b", "c"(1)]> @enc_fwd(%arg0)
func.func private @callee(%a: !m0) -> !m0 attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=["a b", "c"(1)]> (%a) (%p: tensor<8xf32>) {
    %r = stablehlo.add %p, %p : tensor<8xf32>
    mpmd.return %r : tensor<8xf32>
  } : (!m0) -> !m0
  return %x : !m0
}

// Another shape, another number of results, another operation: another function, named after labels.
// CHECK-LABEL: func.func private @differences
// CHECK: mpmd.fragment_call<mesh="m2", origin=["enc"]> @enc_fwd_0(%arg1)
// CHECK: mpmd.fragment_call<mesh="m0", origin=["a b", "c"(1)]> @a_b_c_fwd_bwd(%arg0)
// CHECK: mpmd.fragment_call<mesh="m0", origin=["c"(2)]> @c_bwd2(%arg0)
// CHECK: mpmd.fragment_call<mesh="m0", origin=[]> @inferred(%arg0) {mpmd.inferred_by = ["use_set"]}
func.func private @differences(%a: !m0, %b: !m2) -> (!m2, !m0, !m0, !m0)
    attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m2", origin=["enc"]> (%b) (%p: tensor<8xf32>) {
    %r = stablehlo.add %p, %p : tensor<8xf32>
    mpmd.return %r : tensor<8xf32>
  } : (!m2) -> !m2
  %y:2 = mpmd.fragment<mesh="m0", origin=["a b", "c"(1)]> (%a) (%p: tensor<8xf32>) {
    %r = stablehlo.add %p, %p : tensor<8xf32>
    mpmd.return %r, %r : tensor<8xf32>, tensor<8xf32>
  } : (!m0) -> (!m0, !m0)
  %z = mpmd.fragment<mesh="m0", origin=["c"(2)]> (%a) (%p: tensor<8xf32>) {
    %r = stablehlo.multiply %p, %p : tensor<8xf32>
    mpmd.return %r : tensor<8xf32>
  } : (!m0) -> !m0
  %w = mpmd.fragment<mesh="m0", origin=[]> (%a) {mpmd.inferred_by = ["use_set"]} (%p: tensor<8xf32>) {
    mpmd.return %p : tensor<8xf32>
  } : (!m0) -> !m0
  return %x, %y#1, %z, %w : !m2, !m0, !m0, !m0
}

// CHECK: func.func private @enc_fwd(%arg0: tensor<8xf32>) -> tensor<8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
// CHECK-NEXT: %[[R:.*]] = stablehlo.add %arg0, %arg0
// CHECK-NEXT: return %[[R]]
// CHECK: func.func private @enc_fwd_0(%arg0: tensor<8xf32>) -> tensor<8xf32> attributes {mesh_shape = #sdy.mesh<["x"=4]>} {
