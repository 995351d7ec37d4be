// RUN: not mpmd-opt %s -mpmd-map-input-output-to-mesh='input-assignment=1@m1' 2>&1 | FileCheck %s --check-prefix=INPUT
// RUN: not mpmd-opt %s -mpmd-map-input-output-to-mesh='output-assignment=2@m1' 2>&1 | FileCheck %s --check-prefix=OUTPUT
// RUN: not mpmd-opt %s -mpmd-map-input-output-to-mesh='input-assignment=0@elsewhere' 2>&1 | FileCheck %s --check-prefix=MESH
// RUN: not mpmd-opt %s -mpmd-map-input-output-to-mesh='input-assignment=0' 2>&1 | FileCheck %s --check-prefix=AT
// RUN: not mpmd-opt %s -mpmd-map-input-output-to-mesh='input-assignment=x@m1' 2>&1 | FileCheck %s --check-prefix=INDEX
// RUN: not mpmd-opt %s -mpmd-map-input-output-to-mesh='input-assignment=0@m1/2' 2>&1 | FileCheck %s --check-prefix=STAGE

// INPUT:  error: argument 1 is assigned to mesh m1, but there are only 1
// OUTPUT: error: result 2 is assigned to mesh m1, but there are only 1
// MESH:   error: Topology doesn't have a mesh with name: elsewhere; it has: m1, m2
// AT:     Assignment must contain '@' denoting a name assigned to a mesh, got: 0
// INDEX:  Failed to parse index: x
// STAGE:  'm1/2' has a stage, which only labels have
func.func public @main(%x: tensor<8xf32>) -> tensor<8xf32>
    attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>} {
  return %x : tensor<8xf32>
}
