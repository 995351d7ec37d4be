// Both ends must have one type, and nothing on the way be in host memory.
// RUN: mpmd-opt %s -mpmd-remove-transfer-cycles | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!host0 = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>, memory_kind="pinned_host">
!host1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, memory_kind="pinned_host">
!device0 = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>, memory_kind="device">
!rows0 = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>>

// CHECK-LABEL: func.func @offloaded(
// CHECK: %[[V0:.*]] = mpmd.transfer %arg0 : ({{.*}}"m0"{{.*}}) -> {{.*}}"m1"
// CHECK: %[[V1:.*]] = mpmd.transfer %[[V0]] : ({{.*}}"m1"{{.*}}) -> {{.*}}"m0"
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V1]]
func.func @offloaded(%a: !m0) -> !m0 attributes {topology = #topology} {
  %x = mpmd.transfer %a : (!m0) -> !host1
  %y = mpmd.transfer %x : (!host1) -> !m0
  return %y : !m0
}

// CHECK-LABEL: func.func @from_host(
// CHECK: %[[V0:.*]] = mpmd.transfer %arg0 : ({{.*}}"m0"{{.*}}) -> {{.*}}"m1"
// CHECK: %[[V1:.*]] = mpmd.transfer %[[V0]] : ({{.*}}"m1"{{.*}}) -> {{.*}}"m0"
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V1]]
func.func @from_host(%a: !host0) -> !host0 attributes {topology = #topology} {
  %x = mpmd.transfer %a : (!host0) -> !m1
  %y = mpmd.transfer %x : (!m1) -> !host0
  return %y : !host0
}

// CHECK-LABEL: func.func @named_device_memory(
// CHECK: %[[V0:.*]] = mpmd.transfer %arg0 : ({{.*}}"m0"{{.*}}) -> {{.*}}"m1"
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %arg0
func.func @named_device_memory(%a: !device0) -> !device0 attributes {topology = #topology} {
  %x = mpmd.transfer %a : (!device0) -> !m1
  %y = mpmd.transfer %x : (!m1) -> !device0
  return %y : !device0
}

// CHECK-LABEL: func.func @resharded(
// CHECK: %[[V0:.*]] = mpmd.transfer %arg0 : ({{.*}}"m0"{{.*}}) -> {{.*}}"m1"
// CHECK: %[[V1:.*]] = mpmd.transfer %[[V0]] : ({{.*}}"m1"{{.*}}) -> {{.*}}"m0"
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %arg0, %[[V1]]
func.func @resharded(%a: !rows0) -> (!rows0, !m0) attributes {topology = #topology} {
  %x = mpmd.transfer %a : (!rows0) -> !m1
  %y = mpmd.transfer %x : (!m1) -> !rows0
  %z = mpmd.transfer %x : (!m1) -> !m0
  return %y, %z : !rows0, !m0
}
