// RUN: not mpmd-opt %s -mpmd-map-named-ops-to-mpmd-ops='assignment=f' 2>&1 | FileCheck %s --check-prefix=AT
// RUN: not mpmd-opt %s -mpmd-map-named-ops-to-mpmd-ops='assignment=f@m1/first' 2>&1 | FileCheck %s --check-prefix=STAGE
// RUN: not mpmd-opt %s -mpmd-map-named-ops-to-mpmd-ops='assignment=f@' 2>&1 | FileCheck %s --check-prefix=MESH

// AT:    Assignment must contain '@' denoting a name assigned to a mesh (and stage), got: f
// STAGE: Failed to parse stage number: first
// MESH:  the mesh is missing in ''
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #mpmd.topology<<"m1": <["x"=2]>>>} {
  return %x : tensor<8xf32>
}
