// RUN: mpmd-opt %s -mpmd-infer-mesh-rewrite-using-analysis -verify-diagnostics

!t = tensor<4x8xf32>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>, <"m3": <["x"=2]>>>

func.func @loop(%a: !t) -> !t attributes {topology = #topology} {
  // expected-error@+1 {{loops must be unrolled before meshes are inferred}}
  %0 = mpmd.for (%a) {iterations = 2 : ui32, unroll_factor = 2 : ui32} (%x: !t, %index: tensor<ui32>) {
    mpmd.return %x : !t
  } : !t
  return %0 : !t
}
