// RUN: mpmd-opt %s -mpmd-lower-to-fragment-calls | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>>

// Shared bodies become programs, one for each mesh and donation; equal bodies once. Calls of a
// function that is not private are taken for programs.
// CHECK-LABEL: func.func @main(
// CHECK: @p0_f(%arg0) {call_counter = 0 : ui32}
// CHECK: @p0_f_calls1to2.main(%{{.*}}) :
// CHECK: @p0_f_calls1to2.main(%{{.*}}) :
// CHECK: @p1_f_call3.main(%{{.*}}) :
// CHECK: @p2_f.main(%arg1) :
// CHECK: func.func @p0_f(%
// CHECK-NOT: @shared
// CHECK: func.func @p0_f_calls1to2.main(%arg0: tensor<4xf32>)
// CHECK: func.func @p1_f_call3.main(%arg0: tensor<4xf32> {tf.aliasing_output = 0 : i32})
// CHECK: func.func @p2_f.main(%arg0: tensor<4xf32>)
// CHECK-NOT: func.func
func.func @main(%a: !m0, %b: !m1) -> (!m0, !m1) attributes {topology = #topology} {
  %0 = mpmd.fragment_call<mesh="m0", origin=["f"]> @p0_f(%a) {call_counter = 0 : ui32} : (!m0) -> !m0
  %1 = mpmd.fragment_call<mesh="m0", origin=["f"]> @shared(%0) {call_counter = 1 : ui32} : (!m0) -> !m0
  %2 = mpmd.fragment_call<mesh="m0", origin=["f"]> @shared_too(%1) {call_counter = 2 : ui32} : (!m0) -> !m0
  %3 = mpmd.fragment_call<mesh="m0", origin=["f"]> @shared(%2)
    {arg_attrs = [{tf.aliasing_output = 0 : i32}], call_counter = 3 : ui32} : (!m0) -> !m0
  %4 = mpmd.fragment_call<mesh="m1", origin=["f"]> @shared(%b) : (!m1) -> !m1
  return %3, %4 : !m0, !m1
}
func.func @p0_f(%a: tensor<4xf32>) -> tensor<4xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  return %a : tensor<4xf32>
}
func.func private @shared(%a: tensor<4xf32>) -> tensor<4xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @shared_too(%a: tensor<4xf32>) -> tensor<4xf32> attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
