// RUN: mpmd-opt %s -mpmd-specialize-fragment-functions | FileCheck %s
// RUN: mpmd-opt %s -mpmd-specialize-fragment-functions -mpmd-specialize-fragment-functions | FileCheck %s

!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m1_x = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>>
!m1_x_host = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>, memory_kind="pinned_host">
!m2_x = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>>
#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>
sdy.mesh @mesh = <["x"=2]>

// The calls that differ in mesh or memory alone share the function; those with other shardings share a copy.
// CHECK-LABEL: func @main
// CHECK: mpmd.fragment_call<mesh="m1", origin=["f"]> @f(%arg0)
// CHECK: mpmd.fragment_call<mesh="m2", origin=["f"]> @f(%arg1)
// CHECK: mpmd.fragment_call<mesh="m1", origin=["f"]> @f(%arg2)
// CHECK: mpmd.fragment_call<mesh="m1", origin=["f"]> @[[COPY:f.+]](%arg3)
// CHECK: mpmd.fragment_call<mesh="m1", origin=["f"]> @[[COPY]](%arg3)
func.func @main(%arg0: !m1_x, %arg1: !m2_x, %arg2: !m1_x_host, %arg3: !m1) -> (!m1, !m1, !m1_x, !m1_x) attributes {topology = #topology} {
  %0 = mpmd.fragment_call<mesh="m1", origin=["f"]> @f(%arg0) : (!m1_x) -> !m1
  %1 = mpmd.fragment_call<mesh="m2", origin=["f"]> @f(%arg1) : (!m2_x) -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
  %2 = mpmd.fragment_call<mesh="m1", origin=["f"]> @f(%arg2) : (!m1_x_host) -> !m1
  %3 = mpmd.fragment_call<mesh="m1", origin=["f"]> @f(%arg3) : (!m1) -> !m1_x
  %4 = mpmd.fragment_call<mesh="m1", origin=["f"]> @f(%arg3) : (!m1) -> !m1_x
  return %0, %2, %3, %4 : !m1, !m1, !m1_x, !m1_x
}
// CHECK: func private @f(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x8xf32> attributes {mesh_shape
func.func private @f(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  %0 = stablehlo.tanh %arg0 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// CHECK: func private @[[COPY]](%arg0: tensor<4x8xf32>) -> (tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
