// RUN: mpmd-opt %s -mpmd-map-input-output-to-mesh='input-assignment=0@m1,2@m2#pinned_host output-assignment=1@m2,0@m1#device' | FileCheck %s

#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>

// CHECK-LABEL: func public @main
// CHECK-SAME:    (%[[X:.*]]: !mpmd.mesh_tensor<"m1", tensor<8xf32>> {d.number = 0 : i32},
// CHECK-SAME:     %[[Y:.*]]: tensor<8xf32>,
// CHECK-SAME:     %[[Z:.*]]: !mpmd.mesh_tensor<"m2", tensor<4xi32>, memory_kind="pinned_host">)
// CHECK-SAME:    -> (!mpmd.mesh_tensor<"m1", tensor<8xf32>, memory_kind="device"> {d.result},
// CHECK-SAME:        !mpmd.mesh_tensor<"m2", tensor<4xi32>>, tensor<8xf32>)
func.func public @main(%x: tensor<8xf32> {d.number = 0 : i32}, %y: tensor<8xf32>, %z: tensor<4xi32>)
    -> (tensor<8xf32> {d.result}, tensor<4xi32>, tensor<8xf32>) attributes {topology = #topology} {
  // CHECK-NEXT: %[[U:.*]] = mpmd.unassign {origin = "user_in"} %[[X]] : (!mpmd.mesh_tensor<"m1", tensor<8xf32>>) -> tensor<8xf32>
  // CHECK-NEXT: %[[V:.*]] = mpmd.unassign {origin = "user_in"} %[[Z]]
  // CHECK-NEXT: %[[S:.*]] = stablehlo.add %[[U]], %[[Y]]
  // CHECK-NEXT: %[[O0:.*]] = mpmd.assign {origin = "user_out"} %[[S]]
  // CHECK-NEXT: %[[O1:.*]] = mpmd.assign {origin = "user_out"} %[[V]]
  // CHECK-NEXT: return %[[O0]], %[[O1]], %[[S]]
  %0 = stablehlo.add %x, %y : tensor<8xf32>
  return %0, %z, %0 : tensor<8xf32>, tensor<4xi32>, tensor<8xf32>
}

// Only the entry function has inputs and outputs.
// CHECK-LABEL: func private @callee
// CHECK-SAME:    (%{{.*}}: tensor<8xf32>) -> tensor<8xf32>
func.func private @callee(%x: tensor<8xf32>) -> tensor<8xf32> attributes {topology = #topology} {
  return %x : tensor<8xf32>
}

// CHECK-LABEL: func public @no_topology
// CHECK-SAME:    (%{{.*}}: tensor<8xf32>) -> tensor<8xf32>
func.func public @no_topology(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
