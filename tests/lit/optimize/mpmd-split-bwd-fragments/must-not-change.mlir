// RUN: mpmd-opt %s -mpmd-split-bwd-fragments -verify-diagnostics | FileCheck %s
// RUN: mpmd-opt %s -mpmd-outline-fragments -mpmd-split-bwd-fragments | FileCheck %s

// CHECK-NOT: split_
// CHECK: func.func @one_step(
// CHECK-NOT: split_

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x4xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>>

func.func @forward(%g: !m1, %x: !m1) -> (!m0, !m1) attributes {topology = #topology} {
  %0:2 = mpmd.fragment<mesh="m1", origin=["f"]> (%g, %x) (%arg0: tensor<4x4xf32>, %arg1: tensor<4x4xf32>) {
    %y = stablehlo.add %arg0, %arg0 : tensor<4x4xf32>
    %z = stablehlo.multiply %arg1, %arg1 : tensor<4x4xf32>
    mpmd.return %y, %z : tensor<4x4xf32>, tensor<4x4xf32>
  } : (!m1, !m1) -> (!m1, !m1)
  %t = mpmd.transfer %0#0 : (!m1) -> !m0
  return %t, %0#1 : !m0, !m1
}

func.func @inferred(%g: !m1, %x: !m1) -> (!m0, !m1) attributes {topology = #topology} {
  %0:2 = mpmd.fragment<mesh="m1", origin=[]> (%g, %x) (%arg0: tensor<4x4xf32>, %arg1: tensor<4x4xf32>) {
    %y = stablehlo.add %arg0, %arg0 : tensor<4x4xf32>
    %z = stablehlo.multiply %arg1, %arg1 : tensor<4x4xf32>
    mpmd.return %y, %z : tensor<4x4xf32>, tensor<4x4xf32>
  } : (!m1, !m1) -> (!m1, !m1)
  %t = mpmd.transfer %0#0 : (!m1) -> !m0
  return %t, %0#1 : !m0, !m1
}

func.func @forward_and_backward(%g: !m1, %x: !m1) -> (!m0, !m1) attributes {topology = #topology} {
  %0:2 = mpmd.fragment<mesh="m1", origin=["f", "f"(1)]> (%g, %x) (%arg0: tensor<4x4xf32>, %arg1: tensor<4x4xf32>) {
    %y = stablehlo.add %arg0, %arg0 : tensor<4x4xf32>
    %z = stablehlo.multiply %arg1, %arg1 : tensor<4x4xf32>
    mpmd.return %y, %z : tensor<4x4xf32>, tensor<4x4xf32>
  } : (!m1, !m1) -> (!m1, !m1)
  %t = mpmd.transfer %0#0 : (!m1) -> !m0
  return %t, %0#1 : !m0, !m1
}

// As in the first stage, which has nobody to send gradients to.
func.func @nothing_transferred(%g: !m1, %x: !m1) -> (!m1, !m1) attributes {topology = #topology} {
  %0:2 = mpmd.fragment<mesh="m1", origin=["f"(1)]> (%g, %x) (%arg0: tensor<4x4xf32>, %arg1: tensor<4x4xf32>) {
    %y = stablehlo.add %arg0, %arg0 : tensor<4x4xf32>
    %z = stablehlo.multiply %arg1, %arg1 : tensor<4x4xf32>
    mpmd.return %y, %z : tensor<4x4xf32>, tensor<4x4xf32>
  } : (!m1, !m1) -> (!m1, !m1)
  return %0#0, %0#1 : !m1, !m1
}

// As with frozen weights.
func.func @all_transferred(%g: !m1, %x: !m1) -> (!m0, !m0) attributes {topology = #topology} {
  %0:2 = mpmd.fragment<mesh="m1", origin=["f"(1)]> (%g, %x) (%arg0: tensor<4x4xf32>, %arg1: tensor<4x4xf32>) {
    %y = stablehlo.add %arg0, %arg0 : tensor<4x4xf32>
    %z = stablehlo.multiply %arg1, %arg1 : tensor<4x4xf32>
    mpmd.return %y, %z : tensor<4x4xf32>, tensor<4x4xf32>
  } : (!m1, !m1) -> (!m1, !m1)
  %t = mpmd.transfer %0#0 : (!m1) -> !m0
  %u = mpmd.transfer %0#1 : (!m1) -> !m0
  return %t, %u : !m0, !m0
}

// One operation more than results that are transferred: too little to wait for.
func.func @one_step(%g: !m1, %x: !m1) -> (!m0, !m1) attributes {topology = #topology} {
  %0:2 = mpmd.fragment<mesh="m1", origin=["f"(1)]> (%g, %x) (%arg0: tensor<4x4xf32>, %arg1: tensor<4x4xf32>) {
    %a = stablehlo.add %arg0, %arg0 : tensor<4x4xf32>
    %y = stablehlo.add %a, %a : tensor<4x4xf32>
    %z = stablehlo.multiply %arg1, %arg1 : tensor<4x4xf32>
    mpmd.return %y, %z : tensor<4x4xf32>, tensor<4x4xf32>
  } : (!m1, !m1) -> (!m1, !m1)
  %t = mpmd.transfer %0#0 : (!m1) -> !m0
  return %t, %0#1 : !m0, !m1
}
