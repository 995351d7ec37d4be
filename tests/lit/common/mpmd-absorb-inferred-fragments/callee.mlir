// Without the option, only functions that are called change.
// RUN: mpmd-opt %s -mpmd-absorb-inferred-fragments | FileCheck %s
// RUN: mpmd-opt %s -mpmd-outline-fragments -mpmd-absorb-inferred-fragments | FileCheck %s --check-prefix=CALL

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>, <"m2": <["x"=2]>>>

// CHECK-LABEL: func.func public @main(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=[]> (%arg0) (
// CHECK: %[[V1:.*]] = mpmd.fragment<mesh="m0", origin=["f"]> (%[[V0]]) (
// CHECK: %[[V2:.*]] = mpmd.call @called(%arg0)
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V1]], %[[V2]]
// CALL-LABEL: func.func public @main(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m0", origin=[]> @{{.*}}(%arg0)
// CALL: %[[V1:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%[[V0]])
// CALL: %[[V2:.*]] = mpmd.call @called(%arg0)
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V1]], %[[V2]]
func.func public @main(%a: !m0, %b: !m0) -> (!m0, !m0) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=[]> (%a) (%p: tensor<4x8xf32>) {
    mpmd.return %p : tensor<4x8xf32>
  } : (!m0) -> !m0
  %y = mpmd.fragment<mesh="m0", origin=["f"]> (%x) (%p: tensor<4x8xf32>) {
    mpmd.return %p : tensor<4x8xf32>
  } : (!m0) -> !m0
  %z = mpmd.call @called(%a) : (!m0) -> !m0
  return %y, %z : !m0, !m0
}

// CHECK-LABEL: func.func private @called(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0) (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]]
// CALL-LABEL: func.func private @called(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0)
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V0]]
func.func private @called(%a: !m0) -> !m0 attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=[]> (%a) (%p: tensor<4x8xf32>) {
    mpmd.return %p : tensor<4x8xf32>
  } : (!m0) -> !m0
  %y = mpmd.fragment<mesh="m0", origin=["f"]> (%x) (%p: tensor<4x8xf32>) {
    mpmd.return %p : tensor<4x8xf32>
  } : (!m0) -> !m0
  return %y : !m0
}
