// RUN: mpmd-opt %s -mpmd-enforce-input-output-equisharding=constraints=0:1,1:0 | FileCheck %s

!t = tensor<4x8xf32>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
!m3 = !mpmd.mesh_tensor<"m3", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>, <"m3": <["x"=2]>>>

// CHECK-LABEL: func @differ
// CHECK-SAME:    -> (!mpmd.mesh_tensor<"m2", tensor<4x8xf32>>, !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>)
// CHECK-NEXT:    %[[T:.*]] = mpmd.transfer %arg1 : (!mpmd.mesh_tensor<"m2", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
// CHECK-NEXT:    return %arg1, %[[T]]
func.func @differ(%a: !m1, %b: !m2) -> (!m2, !m2) attributes {topology = #topology} {
  return %b, %b : !m2, !m2
}

// CHECK-LABEL: func @memory_kind
func.func @memory_kind(%a: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, memory_kind="pinned_host">, %b: !m2) -> (!m2, !m1) attributes {topology = #topology} {
  // CHECK: %[[T:.*]] = mpmd.transfer %{{.*}} -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, memory_kind="pinned_host">
  // CHECK: return %arg1, %[[T]]
  %0 = mpmd.transfer %a : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>, memory_kind="pinned_host">) -> !m1
  return %b, %0 : !m2, !m1
}

// CHECK-LABEL: func private @callee
// CHECK-NEXT:    return %arg1, %arg1
func.func private @callee(%a: !m1, %b: !m2) -> (!m2, !m2) attributes {topology = #topology} {
  return %b, %b : !m2, !m2
}
