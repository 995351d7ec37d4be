// RUN: mpmd-opt %s -split-input-file -mpmd-introduce-transfers | FileCheck %s

#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<8xf32>>

// The first argument comes from m1 in both calls, the second one does not.
// CHECK-LABEL: func @main
func.func @main(%x: !m1, %y: !m1) -> tensor<8xf32> attributes {topology = #topology} {
  %0 = mpmd.unassign {origin = "a"} %x : (!m1) -> tensor<8xf32>
  %1 = mpmd.unassign {origin = "b"} %y : (!m1) -> tensor<8xf32>
  %2 = mpmd.call @f(%0, %1) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %3 = mpmd.call @f(%1, %2) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}

// CHECK-LABEL: func private @f
// CHECK-SAME:    (%[[P:.*]]: tensor<8xf32>, %[[Q:.*]]: tensor<8xf32>)
// CHECK-NEXT:    %[[A:.*]] = mpmd.assign %[[P]] : (tensor<8xf32>) -> !mpmd.mesh_tensor<"m1", tensor<8xf32>>
// CHECK-NEXT:    %[[U:.*]] = mpmd.unassign %[[A]]
// CHECK-NEXT:    %[[T:.*]] = mpmd.transfer %[[A]]
// CHECK-NEXT:    %[[B:.*]] = mpmd.assign {origin = "g"} %[[Q]]
// CHECK-NEXT:    mpmd.fragment<mesh="m2", origin=["g"]> (%[[T]], %[[B]])
// CHECK:         stablehlo.multiply %{{.*}}, %[[U]]
func.func private @f(%p: tensor<8xf32>, %q: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #topology} {
  %0 = mpmd.assign {origin = "g"} %p : (tensor<8xf32>) -> !m2
  %1 = mpmd.assign {origin = "g"} %q : (tensor<8xf32>) -> !m2
  %2 = mpmd.fragment<mesh="m2", origin=["g"]> (%0, %1) (%a: tensor<8xf32>, %b: tensor<8xf32>) {
    %3 = stablehlo.add %a, %b : tensor<8xf32>
    mpmd.return %3 : tensor<8xf32>
  } : (!m2, !m2) -> !m2
  %4 = mpmd.unassign {origin = "g"} %2 : (!m2) -> tensor<8xf32>
  %5 = stablehlo.multiply %4, %p : tensor<8xf32>
  return %5 : tensor<8xf32>
}

// -----

#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<8xf32>>

func.func @main(%x: !m1, %y: !m2) -> (tensor<8xf32>, tensor<8xf32>) attributes {topology = #topology} {
  %0 = mpmd.unassign {origin = "a"} %x : (!m1) -> tensor<8xf32>
  %1 = mpmd.unassign {origin = "b"} %y : (!m2) -> tensor<8xf32>
  %2 = mpmd.call @different_meshes(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %3 = mpmd.call @different_meshes(%1) : (tensor<8xf32>) -> tensor<8xf32>
  %4 = mpmd.call @never_assigned(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return %3, %4 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func private @different_meshes
// CHECK-NEXT:    mpmd.assign {origin = "g"}
func.func private @different_meshes(%p: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #topology} {
  %0 = mpmd.assign {origin = "g"} %p : (tensor<8xf32>) -> !m2
  %1 = mpmd.unassign {origin = "g"} %0 : (!m2) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// CHECK-LABEL: func private @never_assigned
// CHECK-NEXT:    stablehlo.negate
func.func private @never_assigned(%p: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #topology} {
  %0 = stablehlo.negate %p : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<8xf32>>

// What a forward call hands to its backward call comes from the mesh on which the former made it.
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #topology} {
  %0 = mpmd.call @forward(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = mpmd.call @backward(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

func.func private @forward(%p: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"]> () () {
    %1 = stablehlo.constant dense<1.0> : tensor<8xf32>
    mpmd.return %1 : tensor<8xf32>
  } : () -> !m1
  %2 = mpmd.unassign {origin = "f"} %0 : (!m1) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// CHECK-LABEL: func private @backward
// CHECK-SAME:    (%[[P:.*]]: tensor<8xf32>)
// CHECK-NEXT:    %[[A:.*]] = mpmd.assign %[[P]] : (tensor<8xf32>) -> !mpmd.mesh_tensor<"m1", tensor<8xf32>>
// CHECK-NEXT:    %[[U:.*]] = mpmd.unassign %[[A]]
// CHECK-NEXT:    mpmd.fragment<mesh="m1", origin=["g"]> (%[[A]])
// CHECK:         stablehlo.add %{{.*}}, %[[U]]
func.func private @backward(%p: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #topology} {
  %0 = mpmd.assign {origin = "g"} %p : (tensor<8xf32>) -> !m1
  %1 = mpmd.fragment<mesh="m1", origin=["g"]> (%0) (%a: tensor<8xf32>) {
    %2 = stablehlo.negate %a : tensor<8xf32>
    mpmd.return %2 : tensor<8xf32>
  } : (!m1) -> !m1
  %3 = mpmd.unassign {origin = "g"} %1 : (!m1) -> tensor<8xf32>
  %4 = stablehlo.add %3, %p : tensor<8xf32>
  return %4 : tensor<8xf32>
}
