// RUN: mpmd-opt %s -split-input-file -verify-diagnostics -mpmd-pipeline-scheduler='must-happen-before={table:0F0 0B0 | 1F0 1B0}'

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>

func.func @unknown_microbatch(%a: !m0) -> (!m0) attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  // expected-error @+1 {{schedule table has no F of microbatch 1 for f on mesh 'm0': it is for 2 stages on 2 meshes and 1 microbatches}}
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 1 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %0 : !m0
}

// -----

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>

// expected-error @+1 {{the schedule is for 2 meshes, but the topology has 1: m0}}
func.func @one_mesh(%a: !m0) -> (!m0) attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %0 : !m0
}
