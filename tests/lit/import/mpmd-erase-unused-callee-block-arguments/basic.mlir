// RUN: mpmd-opt %s -split-input-file -mpmd-erase-unused-callee-block-arguments | FileCheck %s

#topology = #mpmd.topology<<"m": <["x"=2]>>>

// CHECK-LABEL: func @main
// CHECK-SAME:    (%[[X:.*]]: tensor<8xf32>, %[[Y:.*]]: tensor<8xf32>)
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
    attributes {topology = #topology} {
  // CHECK-NEXT: %[[C:.*]] = mpmd.call @f(%[[X]]) {call_counter = 0 : ui32} : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NEXT: %[[D:.*]] = mpmd.call @f(%[[C]]) {call_counter = 1 : ui32} : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NEXT: return %[[D]], %[[Y]]
  %0:2 = mpmd.call @f(%x, %x, %y) {call_counter = 0 : ui32} : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %1:2 = mpmd.call @f(%y, %0#1, %0#0) {call_counter = 1 : ui32} : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %1#1, %1#0 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func private @f
// CHECK-SAME:    (%[[B:.*]]: tensor<8xf32> {d.argument = 1 : i32}) -> (tensor<8xf32> {d.result = 1 : i32})
// CHECK-NEXT:    %[[N:.*]] = stablehlo.negate %[[B]]
// CHECK-NEXT:    return %[[N]]
func.func private @f(%unused: tensor<8xf32> {d.argument = 0 : i32}, %b: tensor<8xf32> {d.argument = 1 : i32},
                     %through: tensor<8xf32> {d.argument = 2 : i32})
    -> (tensor<8xf32> {d.result = 0 : i32}, tensor<8xf32> {d.result = 1 : i32}) attributes {topology = #topology} {
  %0 = stablehlo.negate %b : tensor<8xf32>
  return %through, %0 : tensor<8xf32>, tensor<8xf32>
}

// -----

// Each call of the chain hands on what the one before was given.
// CHECK-LABEL: func @nothing_left
// CHECK-SAME:    (%[[X:.*]]: tensor<8xf32>, %[[Y:.*]]: tensor<8xf32>)
// CHECK-NEXT:    return %[[X]], %[[X]]
// CHECK-NOT:   func private @swap
func.func @nothing_left(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
    attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  %0:2 = mpmd.call @swap(%x, %y) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %1:2 = mpmd.call @swap(%0#0, %0#1) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %1#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}

func.func private @swap(%a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
    attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  return %b, %a : tensor<8xf32>, tensor<8xf32>
}

// -----

// CHECK-LABEL: func @effects_stay
// CHECK-NEXT:    mpmd.call @effect() : () -> ()
func.func @effects_stay(%x: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  %0 = mpmd.call @effect(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func private @effect(%a: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  %0 = stablehlo.custom_call @effect() {has_side_effect = true} : () -> tensor<8xf32>
  return %a : tensor<8xf32>
}

// -----

// An argument that is returned and used for something else stays.
// CHECK-LABEL: func @used_and_returned
// CHECK-NEXT:    mpmd.call @g(%{{.*}}) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
func.func @used_and_returned(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
    attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  %0:2 = mpmd.call @g(%x) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}

func.func private @g(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
    attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  %0 = stablehlo.negate %a : tensor<8xf32>
  return %0, %a : tensor<8xf32>, tensor<8xf32>
}

// -----

// CHECK-LABEL: func @no_topology
// CHECK-NEXT:    mpmd.call @h(%{{.*}}) : (tensor<8xf32>) -> tensor<8xf32>
func.func @no_topology(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = mpmd.call @h(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func private @h(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
