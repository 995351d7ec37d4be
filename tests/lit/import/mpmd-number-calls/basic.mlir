// RUN: mpmd-opt %s -mpmd-number-calls | FileCheck %s

!t = tensor<4xf32>

// CHECK-LABEL: func.func @forwards_and_backwards
func.func @forwards_and_backwards(%x: !t, %y: !t) -> !t attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  // CHECK: mpmd.call @f({{.*}}) {call_counter = 0 : ui32}
  %0 = mpmd.call @f(%x, %x) : (!t, !t) -> !t
  // CHECK: mpmd.call @f({{.*}}) {call_counter = 1 : ui32}
  %1 = mpmd.call @f(%y, %x) : (!t, !t) -> !t
  // A gradient is of the microbatch whose values it takes, wherever it stands.
  // CHECK: mpmd.call @g({{.*}}) {call_counter = 1 : ui32}
  %2 = mpmd.call @g(%1, %x) : (!t, !t) -> !t
  // The sum so far comes from the same function and does not count.
  // CHECK: mpmd.call @g({{.*}}) {call_counter = 0 : ui32}
  %3 = mpmd.call @g(%0, %2) : (!t, !t) -> !t
  return %3 : !t
}

// CHECK-LABEL: func.func @a_state_goes_from_one_to_the_next
func.func @a_state_goes_from_one_to_the_next(%x: !t) -> !t attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  // CHECK: call_counter = 0
  %0 = mpmd.call @f(%x, %x) : (!t, !t) -> !t
  // CHECK: call_counter = 1
  %1 = mpmd.call @f(%0, %x) : (!t, !t) -> !t
  // CHECK: call_counter = 2
  %2 = mpmd.call @f(%1, %x) : (!t, !t) -> !t
  return %2 : !t
}

// CHECK-LABEL: func.func @the_user_has_numbered
func.func @the_user_has_numbered(%x: !t) -> !t attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  // CHECK: call_counter = 7
  %0 = mpmd.call @f(%x, %x) {call_counter = 7 : ui32} : (!t, !t) -> !t
  // CHECK-NOT: call_counter
  %1 = mpmd.call @f(%0, %x) : (!t, !t) -> !t
  return %1 : !t
}

// CHECK-LABEL: func.func @called_once_each
func.func @called_once_each(%x: !t) -> !t attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  // CHECK-NOT: call_counter
  %0 = mpmd.call @f(%x, %x) : (!t, !t) -> !t
  %1 = mpmd.call @g(%0, %x) : (!t, !t) -> !t
  return %1 : !t
}

// CHECK-LABEL: func.func private @f
func.func private @f(%x: !t, %y: !t) -> !t attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  return %x : !t
}
func.func private @g(%x: !t, %y: !t) -> !t attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  return %y : !t
}
