// RUN: mpmd-opt %s -mpmd-introduce-transfers | FileCheck %s

#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>, <"m3": <["x"=2]>>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<8xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<8xf32>>

// CHECK-LABEL: func @sum_of_two_meshes
// CHECK-SAME:    (%[[X:[a-z0-9]*]]: {{.*}}, %[[Y:[a-z0-9]*]]: {{.*}}) ->
func.func @sum_of_two_meshes(%x: !m1, %y: !m2) -> !m1 attributes {topology = #topology} {
  // CHECK-NEXT: %[[T:.*]] = mpmd.transfer %[[Y]]
  // CHECK-NEXT: %[[F:.*]] = mpmd.fragment<mesh="m1", origin=[]> (%[[X]], %[[T]]) {mpmd.inferred_by = ["introduce_transfers"]} (%[[A:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<8xf32>) {
  // CHECK-NEXT:   %[[S:.*]] = stablehlo.add %[[A]], %[[B]] {kept}
  // CHECK-NEXT:   mpmd.return %[[S]]
  // CHECK:      return %[[F]]
  %0 = mpmd.unassign {origin = "a"} %x : (!m1) -> tensor<8xf32>
  %1 = mpmd.unassign {origin = "b"} %y : (!m2) -> tensor<8xf32>
  %2 = stablehlo.add %0, %1 {kept} : tensor<8xf32>
  %3 = mpmd.assign {origin = "c"} %2 : (tensor<8xf32>) -> !m1
  return %3 : !m1
}

// CHECK-LABEL: func @sum_of_sums
// CHECK-SAME:    (%[[X:[a-z0-9]*]]: {{.*}}, %[[Y:[a-z0-9]*]]: {{.*}}, %[[Z:[a-z0-9]*]]: {{.*}}) ->
func.func @sum_of_sums(%x: !m1, %y: !m2, %z: !m3) -> !m2 attributes {topology = #topology} {
  // CHECK-NEXT: %[[T:.*]] = mpmd.transfer %[[X]]
  // CHECK-NEXT: %[[F:.*]] = mpmd.fragment<mesh="m2", origin=[]> (%[[T]], %[[Y]])
  // CHECK:      %[[U:.*]] = mpmd.transfer %[[Z]]
  // CHECK-NEXT: %[[G:.*]] = mpmd.fragment<mesh="m2", origin=[]> (%[[F]], %[[U]])
  // CHECK:      return %[[G]]
  %0 = mpmd.unassign {origin = "a"} %x : (!m1) -> tensor<8xf32>
  %1 = mpmd.unassign {origin = "b"} %y : (!m2) -> tensor<8xf32>
  %2 = mpmd.unassign {origin = "c"} %z : (!m3) -> tensor<8xf32>
  %3 = stablehlo.add %0, %1 : tensor<8xf32>
  %4 = stablehlo.add %3, %2 : tensor<8xf32>
  %5 = mpmd.assign {origin = "d"} %4 : (tensor<8xf32>) -> !m2
  return %5 : !m2
}

// CHECK-LABEL: func @twice_the_same
func.func @twice_the_same(%x: !m1) -> !m2 attributes {topology = #topology} {
  // CHECK:      mpmd.fragment<mesh="m2", origin=[]> (%{{[a-z0-9]*}}) {{.*}} (%[[A:.*]]: tensor<8xf32>) {
  // CHECK-NEXT:   stablehlo.add %[[A]], %[[A]]
  %0 = mpmd.unassign {origin = "a"} %x : (!m1) -> tensor<8xf32>
  %1 = stablehlo.add %0, %0 : tensor<8xf32>
  %2 = mpmd.assign {origin = "d"} %1 : (tensor<8xf32>) -> !m2
  return %2 : !m2
}

// What the terms need is transferred once, for the sums as for everything else.
// CHECK-LABEL: func @terms_with_other_users
// CHECK-SAME:    (%[[X:[a-z0-9]*]]: {{.*}}, %[[Y:[a-z0-9]*]]: {{.*}}) ->
func.func @terms_with_other_users(%x: !m1, %y: !m3) -> (!m2, !m2) attributes {topology = #topology} {
  // CHECK:     %[[T:.*]] = mpmd.transfer %[[X]]
  // CHECK-NOT: mpmd.transfer %[[X]]
  // CHECK:     return %{{.*}}, %[[T]]
  %0 = mpmd.unassign {origin = "a"} %x : (!m1) -> tensor<8xf32>
  %1 = mpmd.unassign {origin = "b"} %y : (!m3) -> tensor<8xf32>
  %2 = stablehlo.add %0, %1 : tensor<8xf32>
  %3 = mpmd.assign {origin = "c"} %2 : (tensor<8xf32>) -> !m2
  %4 = mpmd.assign {origin = "d"} %0 : (tensor<8xf32>) -> !m2
  return %3, %4 : !m2, !m2
}

// CHECK-LABEL: func @must_not_move
func.func @must_not_move(%x: !m1, %y: !m2, %z: tensor<8xf32>) -> (!m1, !m2, !m1, !m1)
    attributes {topology = #topology} {
  // CHECK-NOT: mpmd.fragment
  // CHECK-NOT: mpmd.transfer
  %0 = mpmd.unassign {origin = "a"} %x : (!m1) -> tensor<8xf32>
  %1 = mpmd.unassign {origin = "b"} %y : (!m2) -> tensor<8xf32>
  // Used by two meshes.
  %2 = stablehlo.add %0, %1 : tensor<8xf32>
  %3 = mpmd.assign {origin = "c"} %2 : (tensor<8xf32>) -> !m1
  %4 = mpmd.assign {origin = "d"} %2 : (tensor<8xf32>) -> !m2
  // Not a sum.
  %5 = stablehlo.multiply %0, %1 : tensor<8xf32>
  %6 = mpmd.assign {origin = "e"} %5 : (tensor<8xf32>) -> !m1
  // A term without a mesh.
  %7 = stablehlo.add %0, %z : tensor<8xf32>
  %8 = mpmd.assign {origin = "f"} %7 : (tensor<8xf32>) -> !m1
  return %3, %4, %6, %8 : !m1, !m2, !m1, !m1
}
