// RUN: mpmd-opt %s -mpmd-lower-to-fragment-calls='verbose-logging=true' -verify-diagnostics

!m0 = !mpmd.mesh_tensor<"m0", tensor<f32>>

// expected-remark-re @+1 {{mesh m0 will run these programs:{{.*}}p0_f_fwd_call4.main from a fragment with origins [f(fwd)], call counter 4{{.*}}p1_f_bwd.main from a fragment with origins [f(bwd)]}}
func.func @main(%a: !m0) -> !m0 attributes {topology = #mpmd.topology<<"m0": <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 4 : ui32} (%x: tensor<f32>) {
    mpmd.return %x : tensor<f32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%0) (%x: tensor<f32>) {
    %2 = stablehlo.add %x, %x : tensor<f32>
    mpmd.return %2 : tensor<f32>
  } : (!m0) -> !m0
  return %1 : !m0
}
