// Fragments inside a loop, and calls, which never go.
// RUN: mpmd-opt %s -mpmd-fragment-dce | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>, <"m2": <["x"=2]>>>

// CHECK-LABEL: func.func @loop(
// CHECK: %[[V0:.*]] = mpmd.call @callee(%arg0)
// CHECK: %[[V1:.*]]:2 = mpmd.for (%arg0, %arg1) {iterations = 3
// CHECK: %[[V2:.*]] = mpmd.fragment<mesh="m0", origin=["f"]> (%arg2) (
// CHECK-NOT: {{= mpmd.}}
// CHECK: mpmd.return %[[V2]], %arg3
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V1]]#0
func.func @loop(%a: !m0, %b: !m0) -> !m0 attributes {topology = #topology} {
  %unused = mpmd.call @callee(%a) : (!m0) -> !m0
  %r:2 = mpmd.for (%a, %b) {iterations = 3 : ui32, unroll_factor = 3 : ui32} (%i: !m0, %j: !m0, %index: tensor<ui32>) {
    %u:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%i, %j) (%p: tensor<4x8xf32>, %q: tensor<4x8xf32>) {
      %s = stablehlo.add %p, %p : tensor<4x8xf32>
      %w = stablehlo.multiply %p, %q : tensor<4x8xf32>
      mpmd.return %s, %w : tensor<4x8xf32>, tensor<4x8xf32>
    } : (!m0, !m0) -> (!m0, !m0)
    mpmd.return %u#0, %j : !m0, !m0
  } : !m0, !m0
  return %r#0 : !m0
}

// CHECK-LABEL: func.func private @callee(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=["g"]> (%arg0) (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]]
func.func private @callee(%a: !m0) -> !m0 attributes {topology = #topology} {
  %x:2 = mpmd.fragment<mesh="m0", origin=["g"]> (%a) (%p: tensor<4x8xf32>) {
    mpmd.return %p, %p : tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m0) -> (!m0, !m0)
  return %x#1 : !m0
}
