// RUN: mpmd-opt %s -split-input-file -mpmd-lower-to-ifrt | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>
!m0_i32 = !mpmd.mesh_tensor<"m0", tensor<2xi32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
!m1_i32 = !mpmd.mesh_tensor<"m1", tensor<2xi32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>, <"m2": <["x"=4]>>>

// Transfers between the same meshes are one operation, which neither another pair of meshes nor a
// transfer of what it makes itself may join.
// CHECK-LABEL: func.func public @batches(
// CHECK-NEXT: %[[TWO:.*]]:2, %{{.*}} = ifrt.CopyArrays(%arg0, %arg1)
// CHECK-NEXT: %{{.*}}, %{{.*}} = ifrt.Reshard(%arg0)
// CHECK-NEXT: %[[BACK:.*]], %{{.*}} = ifrt.CopyArrays(%[[TWO]]#0)
// CHECK-NEXT: %{{.*}}, %{{.*}} = ifrt.CopyArrays(%[[BACK]])
// CHECK-NEXT: return
func.func public @batches(%a: !m0, %b: !m0_i32) -> (!m1, !m1_i32, !m2, !m0, !m1) attributes {topology = #topology} {
  %0 = mpmd.transfer %a : (!m0) -> !m1
  %1 = mpmd.transfer %b : (!m0_i32) -> !m1_i32
  %2 = mpmd.transfer %a : (!m0) -> !m2
  %3 = mpmd.transfer %0 : (!m1) -> !m0
  %4 = mpmd.transfer %3 : (!m0) -> !m1
  return %0, %1, %2, %3, %4 : !m1, !m1_i32, !m2, !m0, !m1
}

// -----

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>

// The operation stands where its last transfer stood, if nothing before uses what the others bring.
// CHECK-LABEL: func.func public @apart(
// CHECK-NEXT: %[[F:.*]], %{{.*}} = ifrt.Call @p0_f.main::@main(%arg0) on devices [0, 1]
// CHECK-NEXT: %[[TWO:.*]]:2, %{{.*}} = ifrt.CopyArrays(%arg0, %[[F]])
// CHECK-NEXT: %[[G:.*]], %{{.*}} = ifrt.Call @p0_f.main::@main(%arg0)
// CHECK-NEXT: ifrt.Call @p1_f.main::@main(%[[TWO]]#1) on devices [2, 3]
// CHECK-NEXT: %{{.*}}, %{{.*}} = ifrt.CopyArrays(%[[G]])
// CHECK-NEXT: return
func.func public @apart(%a: !m0) -> (!m1, !m1, !m1) attributes {topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>>} {
  %0 = mpmd.transfer %a : (!m0) -> !m1
  %1 = mpmd.fragment_call<mesh="m0", origin=["f"]> @p0_f.main(%a) : (!m0) -> !m0
  %2 = mpmd.transfer %1 : (!m0) -> !m1
  %3 = mpmd.fragment_call<mesh="m0", origin=["f"]> @p0_f.main(%a) : (!m0) -> !m0
  %4 = mpmd.fragment_call<mesh="m1", origin=["f"]> @p1_f.main(%2) : (!m1) -> !m1
  %5 = mpmd.transfer %3 : (!m0) -> !m1
  return %0, %4, %5 : !m1, !m1, !m1
}
func.func @p0_f.main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  return %x : tensor<4xf32>
}
func.func @p1_f.main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  return %x : tensor<4xf32>
}

// -----

!device = !mpmd.mesh_tensor<"m0", tensor<4xf32>>
!host = !mpmd.mesh_tensor<"m0", tensor<4xf32>, memory_kind="pinned_host">

// Memory kinds are part of the types; the module of a program says where its arguments are.
// CHECK-LABEL: func.func public @memory_kinds(
// CHECK-SAME: %arg0: !ifrt.array<tensor<4xf32>, #{{.*}}, [0, 1], memory_kind = "pinned_host">
// CHECK: %[[LOADED:.*]], %{{.*}} = ifrt.CopyArrays(%arg0)
// CHECK: ifrt.Call @p0_f.main::@main(%arg0, %[[LOADED]])
// CHECK: module @p0_f.main
// CHECK-NEXT: func.func @main(%arg0: tensor<4xf32> {mhlo.memory_kind = "pinned_host"}, %arg1: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32> {mhlo.memory_kind = "pinned_host"})
func.func public @memory_kinds(%a: !host) -> (!device, !host) attributes {topology = #mpmd.topology<<"m0": <["x"=2]>>>} {
  %0 = mpmd.transfer %a : (!host) -> !device
  %1:2 = mpmd.fragment_call<mesh="m0", origin=["f"]> @p0_f.main(%a, %0) : (!host, !device) -> (!device, !host)
  return %1#0, %1#1 : !device, !host
}
func.func @p0_f.main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  return %y, %x : tensor<4xf32>, tensor<4xf32>
}
