// RUN: mpmd-opt %s -split-input-file -mpmd-copy-topology-from-main | FileCheck %s

#topology = #mpmd.topology<<"left": <["x"=2]>>, <"right": <["x"=2]>>>

// CHECK-LABEL: func.func public @main
// CHECK-SAME:    topology = #mpmd.topology<<"left" : <["x"=2]>>, <"right" : <["x"=2]>>>
func.func public @main(%x: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #topology} {
  %0 = mpmd.call @public_callee(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = mpmd.call @no_visibility(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = mpmd.for (%1) {iterations = 2 : ui32, unroll_factor = 2 : ui32} (%a: tensor<8xf32>, %index: tensor<ui32>) {
    %3 = mpmd.call @called_in_loop(%a) : (tensor<8xf32>) -> tensor<8xf32>
    mpmd.return %3 : tensor<8xf32>
  } : tensor<8xf32>
  %4 = func.call @plain(%2) : (tensor<8xf32>) -> tensor<8xf32>
  return %4 : tensor<8xf32>
}

// CHECK-LABEL: func.func private @public_callee
// CHECK-SAME:    topology = #mpmd.topology<<"left" : <["x"=2]>>, <"right" : <["x"=2]>>>
func.func public @public_callee(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// CHECK-LABEL: func.func private @no_visibility
// CHECK-SAME:    topology
func.func @no_visibility(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// CHECK-LABEL: func.func private @called_in_loop
// CHECK-SAME:    topology
func.func private @called_in_loop(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// Only what mpmd.call calls is a callee.
// CHECK:      func.func public @plain(%{{.*}}: tensor<8xf32>) -> tensor<8xf32> {
func.func public @plain(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func private @other_topology
// CHECK-SAME:    topology = #mpmd.topology<<"only" : <["x"=4]>>>
func.func private @other_topology(%x: tensor<8xf32>) -> tensor<8xf32>
    attributes {topology = #mpmd.topology<<"another": <["y"=4]>>>} {
  return %x : tensor<8xf32>
}

func.func public @entry(%x: tensor<8xf32>) -> tensor<8xf32>
    attributes {topology = #mpmd.topology<<"only": <["x"=4]>>>} {
  %0 = mpmd.call @other_topology(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Without a topology there is nothing to copy.
// CHECK:      func.func public @callee(%{{.*}}: tensor<8xf32>) -> tensor<8xf32> {
func.func public @callee(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

func.func public @no_mpmd_program(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = mpmd.call @callee(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
