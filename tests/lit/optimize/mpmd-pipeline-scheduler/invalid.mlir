// RUN: mpmd-opt %s -split-input-file -verify-diagnostics -mpmd-pipeline-scheduler=must-happen-before=builtin:GPipe

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>

// A backward that the next forward needs cannot wait for it.
// expected-error @+1 {{Cycle detected in the program, not all fragments could be properly scheduled. Each of these has to come before the next: FragmentInfo(origins=["f"(1)],call_counter=0,mesh_name="m0") -> FragmentInfo(origins=["f"],call_counter=1,mesh_name="m0") -> FragmentInfo(origins=["f"(1)],call_counter=0,mesh_name="m0")}}
func.func @cycle(%a: !m0, %b: !m1) -> (!m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%0) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %2 = mpmd.fragment<mesh="m0", origin=["f"]> (%1) {call_counter = 1 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %2 : !m0
}
