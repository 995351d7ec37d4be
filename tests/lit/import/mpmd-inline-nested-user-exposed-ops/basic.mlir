// RUN: mpmd-opt %s -mpmd-inline-nested-user-exposed-ops='assignment=f@m1,g@m1,s@m1/1' | FileCheck %s

#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>

// CHECK-LABEL: func @two_levels
// CHECK-SAME:    (%[[X:.*]]: tensor<8xf32>)
func.func @two_levels(%x: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #topology} {
  // CHECK-NEXT: mpmd.named_computation<"f"> (%[[X]]) (%[[A:.*]]: tensor<8xf32>) {
  // CHECK-NEXT:   %[[N:.*]] = stablehlo.negate %[[A]]
  // CHECK-NEXT:   %[[S:.*]] = stablehlo.add %[[N]], %[[N]]
  // CHECK-NEXT:   %[[T:.*]] = stablehlo.multiply %[[S]], %[[A]]
  // CHECK-NEXT:   mpmd.return %[[T]]
  %0 = mpmd.named_computation<"f"> (%x) (%a: tensor<8xf32>) {
    %1 = mpmd.named_computation<"g"> (%a) (%b: tensor<8xf32>) {
      %2 = stablehlo.negate %b : tensor<8xf32>
      %3 = mpmd.named_computation<"f"(1)> (%2) (%c: tensor<8xf32>) {
        %4 = stablehlo.add %c, %c : tensor<8xf32>
        mpmd.return %4 : tensor<8xf32>
      } : (tensor<8xf32>) -> tensor<8xf32>
      mpmd.return %3 : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    %5 = mpmd.named_tensor %1 name="g" : tensor<8xf32>
    %6 = stablehlo.multiply %5, %a : tensor<8xf32>
    mpmd.return %6 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func @without_assignment
func.func @without_assignment(%x: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #topology} {
  // CHECK-NEXT: mpmd.named_computation<"s">
  // CHECK-NEXT:   %[[N:.*]] = stablehlo.negate
  // CHECK-NEXT:   mpmd.return %[[N]]
  %0 = mpmd.named_computation<"s"> (%x) (%a: tensor<8xf32>) {
    %1 = mpmd.named_computation<"layer"> (%a) (%b: tensor<8xf32>) {
      %2 = stablehlo.negate %b : tensor<8xf32>
      mpmd.return %2 : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    %3 = mpmd.named_tensor %1 name="activation" : tensor<8xf32>
    mpmd.return %3 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A tensor has a mesh, but no stage that could differ.
// CHECK-LABEL: func @in_loop_in_label
func.func @in_loop_in_label(%x: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #topology} {
  // CHECK:      mpmd.named_computation<"s">
  // CHECK-NOT:  mpmd.named
  // CHECK:      stablehlo.while
  // CHECK:        %[[N:.*]] = stablehlo.negate
  // CHECK-NEXT:   stablehlo.return %[[N]]
  %0 = mpmd.named_computation<"s"> (%x) (%a: tensor<8xf32>) {
    %1 = mpmd.named_tensor %a name="f" : tensor<8xf32>
    %2 = stablehlo.while(%b = %1) : tensor<8xf32>
    cond {
      %3 = stablehlo.constant dense<true> : tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %4 = mpmd.named_computation<"s"> (%b) (%c: tensor<8xf32>) {
        %5 = stablehlo.negate %c : tensor<8xf32>
        mpmd.return %5 : tensor<8xf32>
      } : (tensor<8xf32>) -> tensor<8xf32>
      stablehlo.return %4 : tensor<8xf32>
    }
    mpmd.return %2 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func @not_nested
func.func @not_nested(%x: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #topology} {
  // CHECK-NEXT: mpmd.named_computation<"f">
  // CHECK:      mpmd.named_tensor
  %0 = mpmd.named_computation<"f"> (%x) (%a: tensor<8xf32>) {
    %1 = stablehlo.negate %a : tensor<8xf32>
    mpmd.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %2 = mpmd.named_tensor %0 name="g" : tensor<8xf32>
  return %2 : tensor<8xf32>
}
