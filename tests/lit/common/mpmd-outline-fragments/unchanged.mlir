// RUN: mpmd-opt %s -mpmd-outline-fragments | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<8xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>>

// A body that a call has already is shared with it, and calls stay as they are.
// CHECK-LABEL: func.func @main
// CHECK: @known(%arg0)
// CHECK: @known(
func.func @main(%a: !m0) -> !m0 attributes {topology = #topology} {
  %x = mpmd.fragment_call<mesh="m0", origin=["f"]> @known(%a) : (!m0) -> !m0
  %y = mpmd.fragment<mesh="m0", origin=["f"]> (%x) (%p: tensor<8xf32>) {
    %r = stablehlo.add %p, %p : tensor<8xf32>
    mpmd.return %r : tensor<8xf32>
  } : (!m0) -> !m0
  return %y : !m0
}

// A call cannot stand in a loop, so a fragment there stays.
// CHECK-LABEL: func.func private @loop
// CHECK: mpmd.for
// CHECK: mpmd.fragment<mesh="m0", origin=["f"]>
func.func private @loop(%a: !m0) -> !m0 attributes {topology = #topology} {
  %r = mpmd.for (%a) {iterations = 2 : ui32, unroll_factor = 2 : ui32} (%i: !m0, %index: tensor<ui32>) {
    %y = mpmd.fragment<mesh="m0", origin=["f"]> (%i) (%p: tensor<8xf32>) {
      mpmd.return %p : tensor<8xf32>
    } : (!m0) -> !m0
    mpmd.return %y : !m0
  } : !m0
  return %r : !m0
}

// CHECK: func.func private @known
// CHECK-NOT: func.func
func.func private @known(%p: tensor<8xf32>) -> tensor<8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  %r = stablehlo.add %p, %p : tensor<8xf32>
  return %r : tensor<8xf32>
}
