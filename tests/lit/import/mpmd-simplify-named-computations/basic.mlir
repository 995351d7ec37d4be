// RUN: mpmd-opt %s -mpmd-simplify-named-computations | FileCheck %s

#topology = #mpmd.topology<<"m": <["x"=2]>>>

// CHECK-LABEL: func @doubled
// CHECK-SAME:    (%[[X:.*]]: tensor<8xf32>, %[[Y:.*]]: tensor<8xf32>)
func.func @doubled(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
    attributes {topology = #topology} {
  // CHECK-NEXT: %[[L:.*]]:2 = mpmd.named_computation<"f"> (%[[X]], %[[Y]]) {call_counter = 3 : ui32} (%[[A:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<8xf32>) {
  // CHECK-NEXT:   %[[S:.*]] = stablehlo.add %[[A]], %[[A]]
  // CHECK-NEXT:   %[[T:.*]] = stablehlo.add %[[S]], %[[B]]
  // CHECK-NEXT:   mpmd.return %[[S]], %[[T]]
  // CHECK:      return %[[L]]#0, %[[L]]#1, %[[L]]#0
  %0:3 = mpmd.named_computation<"f"> (%x, %y, %x) {call_counter = 3 : ui32} (%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>) {
    %1 = stablehlo.add %a, %c : tensor<8xf32>
    %2 = stablehlo.add %1, %b : tensor<8xf32>
    mpmd.return %1, %2, %1 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return %0#0, %0#1, %0#2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func @passed_through
// CHECK-SAME:    (%[[X:.*]]: tensor<8xf32>, %[[Y:.*]]: tensor<8xf32>)
func.func @passed_through(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
    attributes {topology = #topology} {
  // CHECK-NEXT: %[[L:.*]] = mpmd.named_computation<"f"> (%[[X]])
  // CHECK:      return %[[Y]], %[[L]]
  %0:2 = mpmd.named_computation<"f"> (%x, %y) (%a: tensor<8xf32>, %b: tensor<8xf32>) {
    %1 = stablehlo.negate %a : tensor<8xf32>
    mpmd.return %b, %1 : tensor<8xf32>, tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}

// What the last label does not need, the labels before it need not make.
// CHECK-LABEL: func @unused_along_a_chain
// CHECK-SAME:    (%[[X:.*]]: tensor<8xf32>, %[[Y:.*]]: tensor<8xf32>)
func.func @unused_along_a_chain(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32>
    attributes {topology = #topology} {
  // CHECK-NEXT: %[[F:.*]] = mpmd.named_computation<"f"> (%[[X]]) (%{{[a-z0-9]*}}: tensor<8xf32>)
  // CHECK:      %[[G:.*]] = mpmd.named_computation<"g"> (%[[F]]) (%{{[a-z0-9]*}}: tensor<8xf32>)
  // CHECK:      return %[[G]]
  %0:2 = mpmd.named_computation<"f"> (%x, %y) (%a: tensor<8xf32>, %b: tensor<8xf32>) {
    %1 = stablehlo.negate %a : tensor<8xf32>
    %2 = stablehlo.negate %b : tensor<8xf32>
    mpmd.return %1, %2 : tensor<8xf32>, tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %3:2 = mpmd.named_computation<"g"> (%0#0, %0#1) (%a: tensor<8xf32>, %b: tensor<8xf32>) {
    %1 = stablehlo.negate %a : tensor<8xf32>
    %2 = stablehlo.add %b, %b : tensor<8xf32>
    mpmd.return %1, %2 : tensor<8xf32>, tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %4 = stablehlo.add %3#1, %3#1 : tensor<8xf32>
  return %3#0 : tensor<8xf32>
}

// CHECK-LABEL: func @nothing_left
// CHECK-SAME:    (%[[X:.*]]: tensor<8xf32>)
// CHECK-NEXT:    return %[[X]]
func.func @nothing_left(%x: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #topology} {
  %0 = mpmd.named_computation<"unused"> (%x) (%a: tensor<8xf32>) {
    %1 = stablehlo.negate %a : tensor<8xf32>
    mpmd.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %2 = mpmd.named_computation<"identity"> (%x) (%a: tensor<8xf32>) {
    mpmd.return %a : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// CHECK-LABEL: func @effects_stay
func.func @effects_stay(%x: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #topology} {
  // CHECK-NEXT: mpmd.named_computation<"f">
  // CHECK-NEXT:   stablehlo.custom_call @effect
  %0 = mpmd.named_computation<"f"> (%x) (%a: tensor<8xf32>) {
    %1 = stablehlo.custom_call @effect(%a) {has_side_effect = true} : (tensor<8xf32>) -> tensor<8xf32>
    mpmd.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %x : tensor<8xf32>
}

// CHECK-LABEL: func @nested
// CHECK-SAME:    (%[[X:.*]]: tensor<8xf32>, %[[Y:.*]]: tensor<8xf32>)
func.func @nested(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
    attributes {topology = #topology} {
  // CHECK-NEXT: %[[L:.*]] = mpmd.named_computation<"outer"> (%[[X]]) (%[[A:.*]]: tensor<8xf32>) {
  // CHECK-NEXT:   %[[N:.*]] = mpmd.named_computation<"inner"> (%[[A]]) (%[[B:.*]]: tensor<8xf32>) {
  // CHECK-NEXT:     stablehlo.add %[[B]], %[[B]]
  // CHECK:        mpmd.return %[[N]]
  // CHECK:      return %[[L]], %[[Y]]
  %0:2 = mpmd.named_computation<"outer"> (%x, %y, %x) (%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>) {
    %1:2 = mpmd.named_computation<"inner"> (%a, %b, %c) (%d: tensor<8xf32>, %e: tensor<8xf32>, %f: tensor<8xf32>) {
      %2 = stablehlo.add %d, %f : tensor<8xf32>
      mpmd.return %2, %e : tensor<8xf32>, tensor<8xf32>
    } : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
    mpmd.return %1#0, %1#1 : tensor<8xf32>, tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func @no_topology
func.func @no_topology(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: mpmd.named_computation<"f">
  %0 = mpmd.named_computation<"f"> (%x) (%a: tensor<8xf32>) {
    mpmd.return %a : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
