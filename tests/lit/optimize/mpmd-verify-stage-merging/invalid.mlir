// RUN: mpmd-opt %s -split-input-file -verify-diagnostics -mpmd-verify-stage-merging

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>

func.func @same_stage(%a: !m0) -> (!m0, !m0) attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"], stage=1> (%a) {call_counter = 2 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  // expected-error @+1 {{A valid program cannot have more than one fragment with the same mesh, stage, transpose, call counts, split type, and remat flag but found multiple fragments with the same attributes: [mesh=m0, stage_id=1, transpose_count=0, call_count=2, split_type=nullopt, is_remat=0] for current fragment with origin: [#mpmd.user_origin<"g">]}}
  %1 = mpmd.fragment<mesh="m0", origin=["g"], stage=1> (%a) {call_counter = 2 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %0, %1 : !m0, !m0
}

// -----

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>

func.func @no_microbatch(%a: !m0) -> (!m0, !m0) attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"(1)], stage=1> (%a) {split_keep_transferred} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  // expected-error @+1 {{A valid program cannot have more than one fragment with the same mesh, stage, transpose, call counts, split type, and remat flag but found multiple fragments with the same attributes: [mesh=m0, stage_id=1, transpose_count=1, call_count=-1, split_type=kKeepTransferred, is_remat=0]}}
  %1 = mpmd.fragment<mesh="m0", origin=["f"(1)], stage=1> (%a) {split_keep_transferred} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %0, %1 : !m0, !m0
}
