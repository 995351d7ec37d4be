// RUN: mpmd-opt %s -split-input-file -mpmd-infer-mesh-assign-using-input-output-constraints=constraints=0:1 -verify-diagnostics
// RUN: not mpmd-opt %s -mpmd-infer-mesh-assign-using-input-output-constraints=constraints=0 2>&1 | FileCheck %s

// CHECK: '0' is not of the form INPUT:OUTPUT, two numbers

!t = tensor<4x8xf32>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>, <"m3": <["x"=2]>>>

// expected-error@+1 {{constraint 0:1 names output 1, but @one_output has 1 of them}}
func.func @one_output(%a: !t) -> !t attributes {topology = #topology} {
  return %a : !t
}

// -----

!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>

// expected-error@+1 {{input 0 and output 1 are tied to each other, but assigned to the meshes 'm1' and 'm2'}}
func.func @different(%a: !m1, %b: !m2) -> (!m1, !m2) attributes {topology = #topology} {
  return %a, %b : !m1, !m2
}
