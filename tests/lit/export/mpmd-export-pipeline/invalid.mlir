// RUN: mpmd-opt %s -mpmd-export-pipeline='fail-on-param-transfers=true fail-on-reshard-only-fragments=true fail-on-backward-deps=true' -split-input-file -verify-diagnostics

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x4xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>>

func.func @inferred(%a: !m0) -> (!m0, !m0) attributes {topology = #topology} {
  // expected-error @+1 {{Inferred fragment has not been merged (inferred by x)}}
  %0 = mpmd.fragment<mesh="m0", origin=[]> (%a) {mpmd.inferred_by = ["x"]} (%b: tensor<4x4xf32>) {
    %2 = stablehlo.negate %b : tensor<4x4xf32>
    mpmd.return %2 : tensor<4x4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%b: tensor<4x4xf32>) {
    %2 = stablehlo.sine %b : tensor<4x4xf32>
    mpmd.return %2 : tensor<4x4xf32>
  } : (!m0) -> !m0
  return %0, %1 : !m0, !m0
}

// -----

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x4xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>>

func.func @parameter(%a: !m0 loc("params['transformer']['w']")) -> !m1 attributes {topology = #topology} {
  // expected-error @+1 {{Detected cross-mesh transfer of a parameter}}
  %0 = mpmd.transfer %a : (!m0) -> !m1
  return %0 : !m1
}

// -----

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x4xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>>

func.func @returned_argument(%a: !m0) -> !m0 attributes {topology = #topology} {
  // expected-warning @+2 {{Inferred fragment has not been merged (inferred by uniquify)}}
  // expected-error @+1 {{Detected reshard-only fragment 'p0_inferred.main'}}
  return %a : !m0
}

// -----

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x4xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>>

func.func @backwards(%a: !m1) -> !m0 attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%a) (%b: tensor<4x4xf32>) {
    %3 = stablehlo.negate %b : tensor<4x4xf32>
    mpmd.return %3 : tensor<4x4xf32>
  } : (!m1) -> !m1
  %1 = mpmd.transfer %0 : (!m1) -> !m0
  // expected-error @+1 {{Detected backward dependency}}
  %2 = mpmd.fragment<mesh="m0", origin=["g"]> (%1) (%b: tensor<4x4xf32>) {
    %3 = stablehlo.sine %b : tensor<4x4xf32>
    mpmd.return %3 : tensor<4x4xf32>
  } : (!m0) -> !m0
  return %2 : !m0
}
