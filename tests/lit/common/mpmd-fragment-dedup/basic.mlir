// RUN: mpmd-opt %s -mpmd-fragment-dedup | FileCheck %s
// RUN: mpmd-opt %s -mpmd-outline-fragments -mpmd-fragment-dedup | FileCheck %s --check-prefix=CALL

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>, <"m2": <["x"=2]>>>

// CHECK-LABEL: func.func @operands(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0, %arg1, %arg0, %arg1) (%[[A1:.*]]: {{.*}}, %[[A2:.*]]: {{.*}}, %[[A3:.*]]: {{.*}}, %[[A4:.*]]:
// CHECK: %[[V5:.*]] = stablehlo.add %[[A1]], %[[A2]]
// CHECK: mpmd.return %[[V5]]
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]]
// CALL-LABEL: func.func @operands(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0, %arg1)
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V0]]
func.func @operands(%a: !m0, %b: !m0) -> (!m0) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=["f"]> (%a, %b, %a, %b) (%x_0: tensor<4x8xf32>, %x_1: tensor<4x8xf32>, %x_2: tensor<4x8xf32>, %x_3: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_3 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0, !m0, !m0, !m0) -> !m0
  return %x : !m0
}

// CHECK-LABEL: func.func @results(
// CHECK: %[[V0:.*]]:3 = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0) (%[[A1:.*]]:
// CHECK: %[[V2:.*]] = stablehlo.add %[[A1]], %[[A1]]
// CHECK: mpmd.return %[[V2]], %[[A1]], %[[V2]]
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]]#0, %[[V0]]#1, %[[V0]]#0
// CALL-LABEL: func.func @results(
// CALL: %[[V0:.*]]:2 = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0)
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V0]]#0, %[[V0]]#1, %[[V0]]#0
func.func @results(%a: !m0) -> (!m0, !m0, !m0) attributes {topology = #topology} {
  %x:3 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%p: tensor<4x8xf32>) {
    %r = stablehlo.add %p, %p : tensor<4x8xf32>
    mpmd.return %r, %p, %r : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m0) -> (!m0, !m0, !m0)
  return %x#0, %x#1, %x#2 : !m0, !m0, !m0
}

// Results that are equal because two operands are.
// CHECK-LABEL: func.func @equal_through_operands(
// CHECK: %[[V0:.*]]:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0, %arg0) (%[[A1:.*]]: {{.*}}, %[[A2:.*]]:
// CHECK: mpmd.return %[[A1]], %[[A1]]
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]]#0, %[[V0]]#0
// CALL-LABEL: func.func @equal_through_operands(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0)
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V0]], %[[V0]]
func.func @equal_through_operands(%a: !m0) -> (!m0, !m0) attributes {topology = #topology} {
  %x:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%a, %a) (%p: tensor<4x8xf32>, %q: tensor<4x8xf32>) {
    mpmd.return %p, %q : tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m0, !m0) -> (!m0, !m0)
  return %x#0, %x#1 : !m0, !m0
}

// Equal operations are not looked for.
// CHECK-LABEL: func.func @nothing_equal(
// CHECK: %[[V0:.*]]:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0, %arg1) (%[[A1:.*]]: {{.*}}, %[[A2:.*]]:
// CHECK: %[[V3:.*]] = stablehlo.add %[[A1]], %[[A2]]
// CHECK: %[[V4:.*]] = stablehlo.add %[[A1]], %[[A2]]
// CHECK: mpmd.return %[[V3]], %[[V4]]
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]]#0, %[[V0]]#1
// CALL-LABEL: func.func @nothing_equal(
// CALL: %[[V0:.*]]:2 = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0, %arg1)
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V0]]#0, %[[V0]]#1
func.func @nothing_equal(%a: !m0, %b: !m0) -> (!m0, !m0) attributes {topology = #topology} {
  %x:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%a, %b) (%p: tensor<4x8xf32>, %q: tensor<4x8xf32>) {
    %r = stablehlo.add %p, %q : tensor<4x8xf32>
    %s = stablehlo.add %p, %q : tensor<4x8xf32>
    mpmd.return %r, %s : tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m0, !m0) -> (!m0, !m0)
  return %x#0, %x#1 : !m0, !m0
}
