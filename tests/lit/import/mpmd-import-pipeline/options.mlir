// RUN: mpmd-opt %s -mpmd-import-pipeline='name-to-mesh-assignment=f@m1,g@m2 merge-after-scheduling=true' | FileCheck %s --check-prefix=LATE
// RUN: mpmd-opt %s -mpmd-import-pipeline='name-to-mesh-assignment=f@m1,g@m2 outline-bodies=true' | FileCheck %s --check-prefix=OUTLINED
// RUN: not mpmd-opt %s -mpmd-import-pipeline='name-to-mesh-assignment=f' 2>&1 | FileCheck %s --check-prefix=WRONG

// LATE:      mpmd.fragment<mesh="m1", origin=["f"]>
// LATE:      mpmd.fragment<mesh="m1", origin=[]>
// LATE:        stablehlo.negate

// OUTLINED:     mpmd.fragment_call<mesh="m1", origin=["f"]> @[[F:[a-z_]+]](
// OUTLINED-NOT: origin=[]
// OUTLINED:     func.func private @[[F]]

// WRONG: Assignment must contain '@'
func.func public @main(%x: tensor<8xf32>) -> tensor<8xf32>
    attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>} {
  %0 = mpmd.named_computation<"f"> (%x) (%a: tensor<8xf32>) {
    %1 = stablehlo.tanh %a : tensor<8xf32>
    mpmd.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %2 = stablehlo.negate %0 : tensor<8xf32>
  %3 = mpmd.named_tensor %2 name="f" : tensor<8xf32>
  return %3 : tensor<8xf32>
}
