// RUN: mpmd-opt %s -mpmd-insert-nameless-clone-of-negligible-ops | FileCheck %s

#topology = #mpmd.topology<<"m": <["x"=2]>>>

// Users get the clone, the function's return keeps the label's result.
// CHECK-LABEL: func @constant_and_iota
func.func @constant_and_iota(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
    attributes {topology = #topology} {
  // CHECK:      %[[L:.*]]:3 = mpmd.named_computation<"f">
  // CHECK:        mpmd.return
  // CHECK:      %[[C:.*]] = stablehlo.constant {kept} dense<1.000000e+00>
  // CHECK-NEXT: %[[I:.*]] = stablehlo.iota dim = 0
  // CHECK-NEXT: %[[S:.*]] = stablehlo.add %[[C]], %[[I]]
  // CHECK-NEXT: %[[T:.*]] = stablehlo.add %[[S]], %[[L]]#1
  // CHECK-NEXT: return %[[T]], %[[L]]#1, %[[L]]#0
  %0:3 = mpmd.named_computation<"f"> (%x) (%a: tensor<8xf32>) {
    %c = stablehlo.constant {kept} dense<1.0> : tensor<8xf32>
    %i = stablehlo.iota dim = 0 : tensor<8xf32>
    %1 = stablehlo.add %a, %c : tensor<8xf32>
    mpmd.return %c, %1, %i : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  } : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  %2 = stablehlo.add %0#0, %0#2 : tensor<8xf32>
  %3 = stablehlo.add %2, %0#1 : tensor<8xf32>
  return %3, %0#1, %0#0 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func @nested_labels
func.func @nested_labels(%x: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #topology} {
  // CHECK:      mpmd.named_computation<"outer">
  // CHECK-NEXT:   mpmd.named_computation<"inner">
  // CHECK:        } : () -> tensor<8xf32>
  // CHECK-NEXT:   %[[INNER:.*]] = stablehlo.constant
  // CHECK-NEXT:   mpmd.return %[[INNER]]
  // CHECK-NEXT: } : () -> tensor<8xf32>
  // CHECK-NEXT: %[[OUTER:.*]] = stablehlo.constant
  // CHECK-NEXT: stablehlo.negate %[[OUTER]]
  %0 = mpmd.named_computation<"outer"> () () {
    %1 = mpmd.named_computation<"inner"> () () {
      %c = stablehlo.constant dense<1.0> : tensor<8xf32>
      mpmd.return %c : tensor<8xf32>
    } : () -> tensor<8xf32>
    mpmd.return %1 : tensor<8xf32>
  } : () -> tensor<8xf32>
  %2 = stablehlo.negate %0 : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// CHECK-LABEL: func @not_negligible
func.func @not_negligible(%x: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #topology} {
  // CHECK:      %[[L:.*]]:3 = mpmd.named_computation<"f">
  // CHECK:        mpmd.return
  // CHECK-NEXT: } :
  // CHECK-NEXT: stablehlo.add %[[L]]#0, %[[L]]#1
  // CHECK-NEXT: stablehlo.add %{{.*}}, %[[L]]#2
  %0:3 = mpmd.named_computation<"f"> (%x) (%a: tensor<8xf32>) {
    %two:2 = stablehlo.custom_call @two_results() : () -> (tensor<8xf32>, tensor<8xf32>)
    %effect = stablehlo.custom_call @effect() {has_side_effect = true} : () -> tensor<8xf32>
    %negated = stablehlo.negate %a : tensor<8xf32>
    mpmd.return %two#1, %effect, %negated : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  } : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  %1 = stablehlo.add %0#0, %0#1 : tensor<8xf32>
  %2 = stablehlo.add %1, %0#2 : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// CHECK-LABEL: func @no_topology
func.func @no_topology() -> tensor<8xf32> {
  // CHECK: %[[L:.*]] = mpmd.named_computation<"f">
  // CHECK: stablehlo.negate %[[L]]
  %0 = mpmd.named_computation<"f"> () () {
    %c = stablehlo.constant dense<1.0> : tensor<8xf32>
    mpmd.return %c : tensor<8xf32>
  } : () -> tensor<8xf32>
  %1 = stablehlo.negate %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}
