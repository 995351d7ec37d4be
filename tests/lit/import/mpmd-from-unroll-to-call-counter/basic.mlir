// RUN: mpmd-opt %s -mpmd-from-unroll-to-call-counter | FileCheck %s

#topology = #mpmd.topology<<"m": <["x"=2]>>>

// CHECK-LABEL: func @main
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #topology} {
  // CHECK-NEXT: mpmd.call @f(%{{.*}}) {call_counter = 3 : ui32} :
  %0 = mpmd.call @f(%x) {unroll_counter = 3 : ui32} : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NEXT: mpmd.call @f(%{{.*}}) {call_counter = 5 : ui32, other} :
  %1 = mpmd.call @f(%0) {unroll_counter = 5 : ui32, call_counter = 1 : ui32, other} : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NEXT: mpmd.call @f(%{{.*}}) {call_counter = 2 : ui32} :
  %2 = mpmd.call @f(%1) {call_counter = 2 : ui32} : (tensor<8xf32>) -> tensor<8xf32>
  // Only calls have a call counter.
  // CHECK-NEXT: stablehlo.negate %{{.*}} {unroll_counter = 5 : ui32}
  %3 = stablehlo.negate %2 {unroll_counter = 5 : ui32} : tensor<8xf32>
  return %3 : tensor<8xf32>
}

func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #topology} {
  return %x : tensor<8xf32>
}

// CHECK-LABEL: func @no_topology
// CHECK-NEXT:    mpmd.call @g(%{{.*}}) {unroll_counter = 3 : ui32}
func.func @no_topology(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = mpmd.call @g(%x) {unroll_counter = 3 : ui32} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func private @g(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
