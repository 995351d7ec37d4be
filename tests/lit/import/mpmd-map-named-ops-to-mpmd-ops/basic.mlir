// RUN: mpmd-opt %s -mpmd-map-named-ops-to-mpmd-ops='assignment=f@m1,s@m2/3,host@m1#pinned_host' | FileCheck %s

#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>

// CHECK-LABEL: func @computations
// CHECK-SAME:    (%[[X:.*]]: tensor<8xf32>, %[[Y:.*]]: tensor<8xf32>)
func.func @computations(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
    attributes {topology = #topology} {
  // CHECK-NEXT: %[[A0:.*]] = mpmd.assign {origin = "f"} %[[X]] : (tensor<8xf32>) -> !mpmd.mesh_tensor<"m1", tensor<8xf32>>
  // CHECK-NEXT: %[[A1:.*]] = mpmd.assign {origin = "f"} %[[Y]]
  // CHECK-NEXT: %[[F:.*]]:2 = mpmd.fragment<mesh="m1", origin=["f"]> (%[[A0]], %[[A1]], %[[A0]]) (%{{.*}}: tensor<8xf32>, %{{.*}}: tensor<8xf32>, %{{.*}}: tensor<8xf32>) {
  // CHECK-NEXT:   stablehlo.add
  // CHECK-NEXT:   mpmd.return
  // CHECK:      %[[U0:.*]] = mpmd.unassign {origin = "f"} %[[F]]#0 : (!mpmd.mesh_tensor<"m1", tensor<8xf32>>) -> tensor<8xf32>
  // CHECK-NEXT: %[[U1:.*]] = mpmd.unassign {origin = "f"} %[[F]]#1
  // CHECK-NEXT: %[[B:.*]] = mpmd.assign {origin = "s"} %[[U1]]
  // CHECK-NEXT: %[[G:.*]] = mpmd.fragment<mesh="m2", origin=["s"(1)], stage=3> (%[[B]])
  // CHECK:      %[[V:.*]] = mpmd.unassign {origin = "s"} %[[G]]
  // CHECK-NEXT: return %[[U0]], %[[V]]
  %0:2 = mpmd.named_computation<"f"> (%x, %y, %x) (%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>) {
    %1 = stablehlo.add %a, %b : tensor<8xf32>
    mpmd.return %1, %c : tensor<8xf32>, tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %2 = mpmd.named_computation<"s"(1)> (%0#1) (%a: tensor<8xf32>) {
    %3 = stablehlo.negate %a : tensor<8xf32>
    mpmd.return %3 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0#0, %2 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func @tensors
// CHECK-SAME:    (%[[X:.*]]: tensor<8xf32>)
func.func @tensors(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) attributes {topology = #topology} {
  // CHECK-NEXT: %[[A:.*]] = mpmd.assign {origin = "f"} %[[X]]
  // CHECK-NEXT: %[[U:.*]] = mpmd.unassign {origin = "f"} %[[A]]
  // CHECK-NEXT: %[[B:.*]] = mpmd.assign {origin = "host"} %[[U]] : (tensor<8xf32>) -> !mpmd.mesh_tensor<"m1", tensor<8xf32>, memory_kind="pinned_host">
  // CHECK-NEXT: %[[V:.*]] = mpmd.unassign {origin = "host"} %[[B]]
  // CHECK-NEXT: return %[[V]], %[[X]]
  %0 = mpmd.named_tensor %x name="f" : tensor<8xf32>
  %1 = mpmd.named_tensor %0 name="host" : tensor<8xf32>
  %2 = mpmd.named_tensor %x name="without_assignment" : tensor<8xf32>
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}

// The computation itself runs on the device, whatever memory its name is given.
// CHECK-LABEL: func @memory_kind_of_computation
func.func @memory_kind_of_computation(%x: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #topology} {
  // CHECK: mpmd.fragment<mesh="m1", origin=["host"]>
  // CHECK: } : (!mpmd.mesh_tensor<"m1", tensor<8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<8xf32>>
  %0 = mpmd.named_computation<"host"> (%x) (%a: tensor<8xf32>) {
    mpmd.return %a : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A label directly in a loop knows its microbatch.
// CHECK-LABEL: func @microbatches
func.func @microbatches(%x: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #topology} {
  // CHECK: mpmd.fragment<mesh="m1", origin=["f"]> (%{{.*}}) {call_counter = 1 : ui32} (%
  // CHECK: mpmd.fragment<mesh="m1", origin=["f"]> (%{{.*}}) {call_counter = 2 : ui32} (%
  %0 = mpmd.named_computation<"f"> (%x) {call_counter = 1 : ui32, other} (%a: tensor<8xf32>) {
    mpmd.return %a : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %1 = mpmd.named_computation<"f"> (%0) {unroll_counter = 2 : ui32} (%a: tensor<8xf32>) {
    mpmd.return %a : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// CHECK-LABEL: func @no_operands_no_results
func.func @no_operands_no_results() attributes {topology = #topology} {
  // CHECK-NEXT: mpmd.fragment<mesh="m1", origin=["f"]> () () {
  mpmd.named_computation<"f"> () () {
    %0 = stablehlo.custom_call @effect() {has_side_effect = true} : () -> tensor<8xf32>
    mpmd.return
  } : () -> ()
  return
}

// CHECK-LABEL: func @no_topology
func.func @no_topology(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: mpmd.named_tensor
  %0 = mpmd.named_tensor %x name="f" : tensor<8xf32>
  return %0 : tensor<8xf32>
}
