// RUN: mpmd-opt %s -split-input-file -mpmd-infer-mesh-populate-src-set -mpmd-infer-mesh-validate-src-set-not-empty -verify-diagnostics
// RUN: not mpmd-opt %s -split-input-file -mpmd-infer-mesh-populate-src-set -mpmd-infer-mesh-validate-src-set-not-empty=error-limit=1 2>&1 | FileCheck %s

!t = tensor<4x8xf32>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>, <"m3": <["x"=2]>>>

// CHECK:      error: Mesh assignment is not possible for op as its operands are on conflicting meshes
// CHECK:       - Operand 0 can be assigned to meshes {m1} which originates from:
// CHECK-NEXT:    - Input {{.*}}: m1[f]
// CHECK-NEXT:  - Operand 1 can be assigned to meshes {m2} which originates from:
// CHECK-NEXT:    - Input {{.*}}: m2[g]
func.func @conflicts(%a: !m1, %b: !m2) -> !m1 attributes {topology = #topology} {
  %0 = mpmd.unassign {origin = "f"} %a : (!m1) -> !t
  %1 = mpmd.unassign {origin = "g"} %b : (!m2) -> !t
  // expected-error@+1 {{Mesh assignment is not possible for op as its operands are on conflicting meshes}}
  %2 = stablehlo.subtract %0, %1 : !t
  %3 = stablehlo.sine %2 : !t
  // expected-error@+1 {{To handle this automatically, set `mpmd_infer_cross_mesh_reductions`}}
  %4 = stablehlo.add %0, %1 : !t
  // expected-error@+1 {{Mesh assignment is not possible for op as its operands are on conflicting meshes}}
  %5 = stablehlo.subtract %1, %0 : !t
  return %a : !m1
}

// -----

!t = tensor<4x8xf32>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>

func.func @main(%a: !m1, %b: !m2) -> !m1 attributes {topology = #topology} {
  %0 = mpmd.unassign %a : (!m1) -> !t
  %1 = mpmd.unassign %b : (!m2) -> !t
  %2 = mpmd.call @callee(%0) : (!t) -> !t
  %3 = mpmd.call @callee(%1) : (!t) -> !t
  return %a : !m1
}

// expected-error@+1 {{Mesh assignment is not possible for arg0 of mpmd.call "callee" as its caller operands are on conflicting meshes}}
func.func private @callee(%a: !t) -> !t attributes {topology = #topology} {
  %0 = stablehlo.sine %a : !t
  return %0 : !t
}
