// RUN: mpmd-opt %s -mpmd-introduce-transfers | FileCheck %s

#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>, <"m10": <["x"=2]>>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<8xf32>>
!m1_host = !mpmd.mesh_tensor<"m1", tensor<8xf32>, memory_kind="pinned_host">
!m2 = !mpmd.mesh_tensor<"m2", tensor<8xf32>>
!m10 = !mpmd.mesh_tensor<"m10", tensor<8xf32>>

// CHECK-LABEL: func @other_mesh_and_same_mesh
// CHECK-SAME:    (%[[X:.*]]: !mpmd.mesh_tensor<"m1", tensor<8xf32>>)
func.func @other_mesh_and_same_mesh(%x: !m1) -> (!m2, !m1, tensor<8xf32>) attributes {topology = #topology} {
  // CHECK-NEXT: %[[U:.*]] = mpmd.unassign {origin = "a"} %[[X]]
  // CHECK-NEXT: %[[T:.*]] = mpmd.transfer %[[X]] : (!mpmd.mesh_tensor<"m1", tensor<8xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<8xf32>>
  // CHECK-NEXT: %[[N:.*]] = stablehlo.negate %[[U]]
  // CHECK-NEXT: return %[[T]], %[[X]], %[[N]]
  %0 = mpmd.unassign {origin = "a"} %x : (!m1) -> tensor<8xf32>
  %1 = mpmd.assign {origin = "b"} %0 : (tensor<8xf32>) -> !m2
  %2 = mpmd.assign {origin = "c"} %0 : (tensor<8xf32>) -> !m1
  %3 = stablehlo.negate %0 : tensor<8xf32>
  return %1, %2, %3 : !m2, !m1, tensor<8xf32>
}

// CHECK-LABEL: func @memory_kinds
// CHECK-SAME:    (%[[X:[a-z0-9]*]]: {{.*}}, %[[Y:[a-z0-9]*]]: {{.*}}) ->
func.func @memory_kinds(%x: !m1_host, %y: !m1) -> (!m1, !m1_host) attributes {topology = #topology} {
  // CHECK-NEXT: mpmd.transfer %[[X]] : (!mpmd.mesh_tensor<"m1", tensor<8xf32>, memory_kind="pinned_host">) -> !mpmd.mesh_tensor<"m1", tensor<8xf32>>
  // CHECK-NEXT: mpmd.transfer %[[Y]] : (!mpmd.mesh_tensor<"m1", tensor<8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<8xf32>, memory_kind="pinned_host">
  %0 = mpmd.unassign {origin = "a"} %x : (!m1_host) -> tensor<8xf32>
  %1 = mpmd.assign {origin = "a"} %0 : (tensor<8xf32>) -> !m1
  %2 = mpmd.unassign {origin = "a"} %y : (!m1) -> tensor<8xf32>
  %3 = mpmd.assign {origin = "a"} %2 : (tensor<8xf32>) -> !m1_host
  return %1, %3 : !m1, !m1_host
}

// From mesh to mesh in the order of their names, each once, whatever the order of the users.
// CHECK-LABEL: func @several_meshes
// CHECK-SAME:    (%[[X:.*]]: !mpmd.mesh_tensor<"m1", tensor<8xf32>>)
func.func @several_meshes(%x: !m1) -> (!m10, !m2, !m10, !m2) attributes {topology = #topology} {
  // CHECK-NEXT: %[[T:.*]] = mpmd.transfer %[[X]] : {{.*}} -> !mpmd.mesh_tensor<"m2", tensor<8xf32>>
  // CHECK-NEXT: %[[U:.*]] = mpmd.transfer %[[T]] : {{.*}} -> !mpmd.mesh_tensor<"m10", tensor<8xf32>>
  // CHECK-NEXT: %[[F:.*]] = mpmd.fragment<mesh="m10", origin=["f"]> (%[[U]])
  // CHECK:      return %[[F]], %[[T]], %[[U]], %[[T]]
  %0 = mpmd.unassign {origin = "a"} %x : (!m1) -> tensor<8xf32>
  %1 = mpmd.assign {origin = "f"} %0 : (tensor<8xf32>) -> !m10
  %2 = mpmd.fragment<mesh="m10", origin=["f"]> (%1) (%a: tensor<8xf32>) {
    mpmd.return %a : tensor<8xf32>
  } : (!m10) -> !m10
  %3 = mpmd.assign {origin = "b"} %0 : (tensor<8xf32>) -> !m2
  %4 = mpmd.assign {origin = "c"} %0 : (tensor<8xf32>) -> !m10
  %5 = mpmd.assign {origin = "d"} %0 : (tensor<8xf32>) -> !m2
  return %2, %3, %4, %5 : !m10, !m2, !m10, !m2
}

// CHECK-LABEL: func @transfer_that_is_there
// CHECK-SAME:    (%[[X:.*]]: !mpmd.mesh_tensor<"m1", tensor<8xf32>>)
func.func @transfer_that_is_there(%x: !m1) -> (!m2, !m2) attributes {topology = #topology} {
  // CHECK-NEXT: %[[T:.*]] = mpmd.transfer %[[X]]
  // CHECK-NEXT: return %[[T]], %[[T]]
  %0 = mpmd.transfer %x : (!m1) -> !m2
  %1 = mpmd.unassign {origin = "a"} %x : (!m1) -> tensor<8xf32>
  %2 = mpmd.assign {origin = "a"} %1 : (tensor<8xf32>) -> !m2
  return %0, %2 : !m2, !m2
}

// The user asked for the way over m2.
// CHECK-LABEL: func @detour
// CHECK-SAME:    (%[[X:.*]]: !mpmd.mesh_tensor<"m1", tensor<8xf32>>)
func.func @detour(%x: !m1) -> !m10 attributes {topology = #topology} {
  // CHECK-NEXT: %[[T:.*]] = mpmd.transfer %[[X]]
  // CHECK-NEXT: %[[U:.*]] = mpmd.transfer %[[T]]
  // CHECK-NEXT: return %[[U]]
  %0 = mpmd.unassign {origin = "a"} %x : (!m1) -> tensor<8xf32>
  %1 = mpmd.assign {origin = "a"} %0 : (tensor<8xf32>) -> !m2
  %2 = mpmd.unassign {origin = "a"} %1 : (!m2) -> tensor<8xf32>
  %3 = mpmd.assign {origin = "a"} %2 : (tensor<8xf32>) -> !m10
  return %3 : !m10
}

// CHECK-LABEL: func @unused_goes
// CHECK-SAME:    (%[[X:.*]]: !mpmd.mesh_tensor<"m1", tensor<8xf32>>)
// CHECK-NEXT:    return %[[X]]
func.func @unused_goes(%x: !m1) -> !m1 attributes {topology = #topology} {
  %0 = mpmd.unassign {origin = "a"} %x : (!m1) -> tensor<8xf32>
  %1 = stablehlo.negate %0 : tensor<8xf32>
  %2 = mpmd.assign {origin = "a"} %1 : (tensor<8xf32>) -> !m2
  return %x : !m1
}

// CHECK-LABEL: func @values_without_mesh
func.func @values_without_mesh(%x: tensor<8xf32>) -> (!m1, !m2) attributes {topology = #topology} {
  // CHECK-NEXT: mpmd.assign {origin = "a"}
  // CHECK-NEXT: mpmd.assign {origin = "b"}
  // CHECK-NEXT: return
  %0 = mpmd.assign {origin = "a"} %x : (tensor<8xf32>) -> !m1
  %1 = mpmd.assign {origin = "b"} %x : (tensor<8xf32>) -> !m2
  return %0, %1 : !m1, !m2
}
