// RUN: mpmd-opt %s -mpmd-simplify-named-computations | FileCheck %s

#topology = #mpmd.topology<<"m": <["x"=2]>>>

// CHECK-LABEL: func @through_barrier
// CHECK-SAME:    (%[[X:.*]]: tensor<8xf32>, %[[Y:.*]]: tensor<8xf32>)
func.func @through_barrier(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
    attributes {topology = #topology} {
  // CHECK-NEXT: %[[L:.*]]:2 = mpmd.named_computation<"f"> (%[[X]]) (%[[A:.*]]: tensor<8xf32>) {
  // CHECK-NEXT:   %[[N:.*]] = stablehlo.negate %[[A]]
  // CHECK-NEXT:   %[[B:.*]] = stablehlo.optimization_barrier %[[N]] : tensor<8xf32>
  // CHECK-NEXT:   mpmd.return %[[B]], %[[N]]
  // CHECK:      return %[[L]]#0, %[[Y]], %[[L]]#1
  %0:3 = mpmd.named_computation<"f"> (%x, %y) (%a: tensor<8xf32>, %b: tensor<8xf32>) {
    %1 = stablehlo.negate %a : tensor<8xf32>
    %2:2 = stablehlo.optimization_barrier %1, %b : tensor<8xf32>, tensor<8xf32>
    mpmd.return %2#0, %2#1, %1 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return %0#0, %0#1, %0#2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func @barrier_alone
// CHECK-SAME:    (%[[X:.*]]: tensor<8xf32>, %[[Y:.*]]: tensor<8xf32>)
// CHECK-NEXT:    return %[[X]], %[[Y]]
func.func @barrier_alone(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
    attributes {topology = #topology} {
  %0:2 = mpmd.named_computation<"f"> (%x, %y) (%a: tensor<8xf32>, %b: tensor<8xf32>) {
    %1:2 = stablehlo.optimization_barrier %a, %b : tensor<8xf32>, tensor<8xf32>
    mpmd.return %1#0, %1#1 : tensor<8xf32>, tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}

// What is used behind the barrier has to stay behind it.
// CHECK-LABEL: func @used_behind_barrier
func.func @used_behind_barrier(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
    attributes {topology = #topology} {
  // CHECK:      %[[L:.*]]:2 = mpmd.named_computation<"f">
  // CHECK:        %[[B:.*]] = stablehlo.optimization_barrier
  // CHECK:        mpmd.return %[[B]], %{{.*}}
  // CHECK:      return %[[L]]#0, %[[L]]#1
  %0:2 = mpmd.named_computation<"f"> (%x, %y) (%a: tensor<8xf32>, %b: tensor<8xf32>) {
    %1 = stablehlo.optimization_barrier %b : tensor<8xf32>
    %2 = stablehlo.add %1, %a : tensor<8xf32>
    mpmd.return %1, %2 : tensor<8xf32>, tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}
