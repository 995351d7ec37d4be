// RUN: mpmd-opt %s -split-input-file -verify-diagnostics -mpmd-pipeline-scheduler=must-happen-before=builtin:ZBV

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>

// expected-error @+1 {{ZBV puts 2 of the stages on each mesh, but there are 2 stages for 2 meshes}}
func.func @one_stage_per_mesh(%a: !m0, %b: !m1) -> (!m0, !m1)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"], stage=0> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m1", origin=["g"], stage=1> (%b) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m1) -> !m1
  return %0, %1 : !m0, !m1
}

// -----

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>

// expected-error @+1 {{ZBV puts 2 of the stages on each mesh, but there are 6 stages for 2 meshes}}
func.func @three_stages_on_a_mesh(%a: !m0, %b: !m1) -> (!m0, !m0, !m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"], stage=0> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["g"], stage=1> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %2 = mpmd.fragment<mesh="m0", origin=["h"], stage=2> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %0, %1, %2 : !m0, !m0, !m0
}
