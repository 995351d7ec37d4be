// RUN: mpmd-opt %s -mpmd-enforce-input-output-equisharding=constraints=3:0 -verify-diagnostics

!t = tensor<4x8xf32>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>, <"m3": <["x"=2]>>>

// expected-error@+1 {{constraint 3:0 names input 3, but @one has 1 of them}}
func.func @one(%a: !m1) -> !m1 attributes {topology = #topology} {
  return %a : !m1
}
