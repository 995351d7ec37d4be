// RUN: mpmd-opt %s -mpmd-mark-offloaded-input-output -split-input-file -verify-diagnostics

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>>

func.func @result_stays_on_device(%a: !m0) -> (!m0 {mhlo.memory_kind = "pinned_host"})
    attributes {topology = #mpmd.topology<<"m0": <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x: tensor<4x8xf32>) {
    mpmd.return %x : tensor<4x8xf32>
  } : (!m0) -> !m0
  // expected-error @+1 {{Memory kind mismatch between result 0 and defining op: "pinned_host" vs <<NULL ATTRIBUTE>>}}
  return %0 : !m0
}

// -----

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>>

func.func @unannounced(%a: !m0) -> !m0 attributes {topology = #mpmd.topology<<"m0": <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x: tensor<4x8xf32>) {
    %1 = stablehlo.custom_call @annotate_device_placement(%x)
      {mhlo.frontend_attributes = {_xla_buffer_placement = "pinned_host"}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    mpmd.return %1 : tensor<4x8xf32>
  } : (!m0) -> !m0
  // expected-error @+1 {{Memory kind mismatch between result 0 and defining op: <<NULL ATTRIBUTE>> vs "pinned_host"}}
  return %0 : !m0
}

// -----

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>>

// expected-error @+1 {{Memory kind mismatch between arg 0 and users: <<NULL ATTRIBUTE>> vs "pinned_host"}}
func.func @returned_argument(%a: !m0) -> (!m0 {mhlo.memory_kind = "pinned_host"})
    attributes {topology = #mpmd.topology<<"m0": <["x"=2]>>>} {
  // expected-error @+1 {{Memory kind mismatch between result 0 and defining op: "pinned_host" vs <<NULL ATTRIBUTE>>}}
  return %a : !m0
}
