// RUN: mpmd-opt %s -mpmd-mark-input-output-with-layouts -split-input-file -verify-diagnostics

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>>

func.func @two_layouts(%a: !m0)
    -> (!m0 {mhlo.layout_mode = "auto"}, !m0 {mhlo.layout_mode = "{1,0}"}, !m0 {mhlo.layout_mode = "{0,1}"})
    attributes {topology = #mpmd.topology<<"m0": <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x: tensor<4x8xf32>) {
    mpmd.return %x : tensor<4x8xf32>
  } : (!m0) -> !m0
  // expected-error @+1 {{Result #2 is also returned as result #1, but with incompatible layouts: "{0,1}" vs. "{1,0}"}}
  return %0, %0, %0 : !m0, !m0, !m0
}

// -----

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>>

// expected-error @+1 {{Arg #0 is returned as result #0, but with incompatible layouts: "{0,1}" vs. <<NULL ATTRIBUTE>>}}
func.func @argument(%a: !m0 {mhlo.layout_mode = "{0,1}"}) -> !m0
    attributes {topology = #mpmd.topology<<"m0": <["x"=2]>>>} {
  return %a : !m0
}
