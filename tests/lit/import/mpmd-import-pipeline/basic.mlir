// RUN: mpmd-opt %s -split-input-file -mpmd-import-pipeline='name-to-mesh-assignment=f@m1,g@m2/1 input-assignment=0@m1 output-assignment=0@m2 infer-transfers=true' | FileCheck %s

#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>

// CHECK-LABEL: func.func public @train
// CHECK-SAME:    (%[[X:[a-z0-9]*]]: !mpmd.mesh_tensor<"m1", tensor<8xf32>>, %[[W:[a-z0-9]*]]: !mpmd.mesh_tensor<"m2", tensor<8xf32>>)
// CHECK-SAME:    -> (!mpmd.mesh_tensor<"m2", tensor<8xf32>>, !mpmd.mesh_tensor<"m2", tensor<8xf32>>)
func.func public @train(%x: tensor<8xf32>, %w: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
    attributes {topology = #topology} {
  // CHECK-NEXT: %[[F:.*]] = mpmd.fragment<mesh="m1", origin=["f"]> (%[[X]])
  // CHECK-NEXT:   stablehlo.tanh
  // CHECK:      %[[T:.*]] = mpmd.transfer %[[F]]
  // CHECK-NEXT: %[[G:.*]] = mpmd.fragment<mesh="m2", origin=["g"], stage=1> (%[[T]], %[[W]])
  // CHECK:      %[[H:.*]]:2 = mpmd.fragment<mesh="m2", origin=["g"(1)], stage=1> (%[[G]], %[[W]])
  // The update of the weights has no label and runs with what makes the gradient.
  // CHECK:        stablehlo.subtract
  // CHECK-NEXT:   mpmd.return
  // CHECK:      return
  // CHECK-NOT:  func.func private @relu
  %0 = mpmd.named_computation<"f"> (%x) (%a: tensor<8xf32>) {
    %1 = func.call @relu(%a) : (tensor<8xf32>) -> tensor<8xf32>
    mpmd.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %2 = mpmd.named_computation<"g"> (%0, %w) (%a: tensor<8xf32>, %b: tensor<8xf32>) {
    %3 = stablehlo.multiply %a, %b : tensor<8xf32>
    mpmd.return %3 : tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %4 = mpmd.named_computation<"g"(1)> (%2, %w) (%a: tensor<8xf32>, %b: tensor<8xf32>) {
    %5 = stablehlo.divide %a, %b : tensor<8xf32>
    mpmd.return %5 : tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %rate = stablehlo.constant dense<0.1> : tensor<f32>
  %6 = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %7 = stablehlo.multiply %6, %4 : tensor<8xf32>
  %8 = stablehlo.subtract %w, %7 : tensor<8xf32>
  return %4, %8 : tensor<8xf32>, tensor<8xf32>
}

func.func private @relu(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.tanh %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>

// Each microbatch is laid out with its number; the callee is gone.
// CHECK-LABEL: func.func public @microbatches
func.func public @microbatches(%x: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #topology} {
  // CHECK:      mpmd.fragment<mesh="m1", origin=["f"]> (%{{.*}}) {call_counter = 0 : ui32}
  // CHECK:      mpmd.transfer
  // CHECK:      mpmd.fragment<mesh="m2", origin=["g"], stage=1> (%{{.*}}) {call_counter = 0 : ui32}
  // CHECK:      mpmd.transfer
  // CHECK:      mpmd.fragment<mesh="m1", origin=["f"]> (%{{.*}}) {call_counter = 1 : ui32}
  // CHECK:      mpmd.fragment<mesh="m2", origin=["g"], stage=1> (%{{.*}}) {call_counter = 1 : ui32}
  // CHECK-NOT:  mpmd.call
  // CHECK:      return
  // CHECK-NOT:  func.func
  %0 = mpmd.for (%x) {iterations = 2 : ui32, unroll_factor = 2 : ui32} (%a: tensor<8xf32>, %index: tensor<ui32>) {
    %1 = mpmd.call @step(%a) : (tensor<8xf32>) -> tensor<8xf32>
    %2 = mpmd.named_tensor %1 name="f" : tensor<8xf32>
    mpmd.return %2 : tensor<8xf32>
  } : tensor<8xf32>
  %3 = mpmd.named_tensor %0 name="g" : tensor<8xf32>
  return %3 : tensor<8xf32>
}

func.func @step(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = mpmd.named_computation<"f"> (%x) (%a: tensor<8xf32>) {
    %1 = stablehlo.negate %a : tensor<8xf32>
    mpmd.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %2 = mpmd.named_computation<"g"> (%0) (%a: tensor<8xf32>) {
    %3 = mpmd.named_computation<"inner"> (%a) (%b: tensor<8xf32>) {
      %4 = stablehlo.tanh %b : tensor<8xf32>
      mpmd.return %4 : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    mpmd.return %3 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}
