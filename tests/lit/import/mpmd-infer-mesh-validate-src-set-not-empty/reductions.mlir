// RUN: mpmd-opt %s -mpmd-infer-mesh-validate-src-set-not-empty -verify-diagnostics

!t = tensor<4xf32>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>
#add = #mpmd.reduction<add>

// An annotated reduction that is still a computation was to be a reduction, wherever its operands
// are. What depends on it is not reported again.
func.func public @one_mesh(%a: !m1) -> !t attributes {topology = #topology} {
  %0 = mpmd.unassign {mpmd.src_set = #mpmd.meshes_with_origins<"m1">} %a : (!m1) -> !t
  // expected-error-re @+1 {{Mesh assignment is not possible for op{{.*}}`mpmd_infer_cross_mesh_reductions`{{.*}}Op stack trace:}}
  %1 = stablehlo.add %0, %0 {mpmd.reduce = #add, mpmd.src_set = #mpmd.meshes_with_origins<"m1">} : !t
  %2 = stablehlo.add %1, %0 {mpmd.reduce = #add, mpmd.src_set = #mpmd.meshes_with_origins<"m1">} : !t
  return %2 : !t
}

// One function that fails does not hide the next.
func.func public @returned(%a: !t, %b: !t) -> !t attributes {topology = #topology} {
  // expected-error-re @+1 {{Op is used in:{{.*}} - Output loc({{.*}}":22:3): }}
  %0 = stablehlo.subtract %a, %b {mpmd.src_set = #mpmd.meshes_with_origins<>} : !t
  return %0 : !t
}
