// RUN: mpmd-opt %s -split-input-file -mpmd-sink-negligible-ops-into-call-op | FileCheck %s

#topology = #mpmd.topology<<"m": <["x"=2]>>>

// CHECK-LABEL: func @same_for_all_calls
// CHECK-SAME:    (%[[X:.*]]: tensor<8xf32>)
func.func @same_for_all_calls(%x: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #topology} {
  // CHECK-NEXT: %[[C0:.*]] = mpmd.call @f(%[[X]]) {call_counter = 0 : ui32}
  // CHECK-NEXT: %[[C1:.*]] = mpmd.call @f(%[[C0]]) {call_counter = 1 : ui32}
  // CHECK-NEXT: return %[[C1]]
  %c = stablehlo.constant dense<2.0> : tensor<8xf32>
  %i = stablehlo.iota dim = 0 : tensor<8xf32>
  %0 = mpmd.call @f(%c, %x, %i) {call_counter = 0 : ui32} : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = mpmd.call @f(%c, %0, %i) {call_counter = 1 : ui32} : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// CHECK-LABEL: func private @f
// CHECK-SAME:    (%[[B:.*]]: tensor<8xf32> {d.number = 1 : i32})
// CHECK-NEXT:    %[[C:.*]] = stablehlo.constant dense<2.000000e+00>
// CHECK-NEXT:    %[[I:.*]] = stablehlo.iota dim = 0
// CHECK-NEXT:    %[[S:.*]] = stablehlo.add %[[C]], %[[B]]
// CHECK-NEXT:    %[[T:.*]] = stablehlo.add %[[S]], %[[I]]
func.func private @f(%a: tensor<8xf32> {d.number = 0 : i32}, %b: tensor<8xf32> {d.number = 1 : i32},
                     %c: tensor<8xf32> {d.number = 2 : i32}) -> tensor<8xf32> attributes {topology = #topology} {
  %0 = stablehlo.add %a, %b : tensor<8xf32>
  %1 = stablehlo.add %0, %c : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

#topology = #mpmd.topology<<"m": <["x"=2]>>>

// The constant stays where something else uses it as well.
// CHECK-LABEL: func @other_use
func.func @other_use(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) attributes {topology = #topology} {
  // CHECK-NEXT: %[[C:.*]] = stablehlo.constant
  // CHECK-NEXT: mpmd.call @f(%{{[a-z0-9]*}}) :
  // CHECK-NEXT: return %{{.*}}, %[[C]]
  %c = stablehlo.constant dense<2.0> : tensor<8xf32>
  %0 = mpmd.call @f(%x, %c) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0, %c : tensor<8xf32>, tensor<8xf32>
}

func.func private @f(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #topology} {
  %0 = stablehlo.add %a, %b : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

#topology = #mpmd.topology<<"m": <["x"=2]>>>

// CHECK-LABEL: func @different_constants
func.func @different_constants(%x: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #topology} {
  // CHECK:      %[[C:.*]] = stablehlo.constant dense<2.0
  // CHECK-NEXT: %[[D:.*]] = stablehlo.constant dense<3.0
  // CHECK-NEXT: mpmd.call @f(%{{[a-z0-9]*}}, %[[C]])
  // CHECK-NEXT: mpmd.call @f(%{{[a-z0-9]*}}, %[[D]])
  %c = stablehlo.constant dense<2.0> : tensor<8xf32>
  %d = stablehlo.constant dense<3.0> : tensor<8xf32>
  %0 = mpmd.call @f(%x, %c) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = mpmd.call @f(%0, %d) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// CHECK-LABEL: func private @f
// CHECK-SAME:    (%{{.*}}: tensor<8xf32>, %{{.*}}: tensor<8xf32>)
// CHECK-NEXT:    stablehlo.add
func.func private @f(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #topology} {
  %0 = stablehlo.add %a, %b : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// CHECK-LABEL: func @no_topology
func.func @no_topology(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: mpmd.call @f(%{{.*}}, %{{.*}}) :
  %c = stablehlo.constant dense<2.0> : tensor<8xf32>
  %0 = mpmd.call @f(%x, %c) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func private @f(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  return %b : tensor<8xf32>
}
