// RUN: mpmd-opt %s -mpmd-mark-aliasing-and-donation | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>>
!m0_f16 = !mpmd.mesh_tensor<"m0", tensor<4x8xf16>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>>

// An intermediate is aliased with a result of its type; an argument is not consumed.
// CHECK-LABEL: func.func @intermediate(
// CHECK: origin=["f"]> (%arg0) (
// CHECK: origin=["g"]> (%{{.*}}, %arg0) {arg_attrs = [{tf.aliasing_output = 0 : i32}, {}]}
func.func @intermediate(%a: !m0) -> !m0 attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x: tensor<4x8xf32>) {
    mpmd.return %x : tensor<4x8xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["g"]> (%0, %a) (%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) {
    %2 = stablehlo.add %x, %y : tensor<4x8xf32>
    mpmd.return %2 : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  return %1 : !m0
}

// Only the last use consumes: of the same value within a fragment that is the last operand.
// CHECK-LABEL: func.func @last_use(
// CHECK: origin=["f"]>
// CHECK: origin=["g"]> (%[[F:.*]]) (
// CHECK: origin=["h"]> (%[[F]], %{{.*}}, %[[F]])
// CHECK-SAME: {arg_attrs = [{}, {tf.aliasing_output = 0 : i32}, {tf.aliasing_output = 1 : i32}]}
func.func @last_use(%a: !m0) -> (!m0, !m0) attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x: tensor<4x8xf32>) {
    mpmd.return %x : tensor<4x8xf32>
  } : (!m0) -> !m0
  %1 = mpmd.fragment<mesh="m0", origin=["g"]> (%0) (%x: tensor<4x8xf32>) {
    mpmd.return %x : tensor<4x8xf32>
  } : (!m0) -> !m0
  %2:2 = mpmd.fragment<mesh="m0", origin=["h"]> (%0, %1, %0)
      (%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %z: tensor<4x8xf32>) {
    mpmd.return %x, %y : tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m0, !m0, !m0) -> (!m0, !m0)
  return %2#0, %2#1 : !m0, !m0
}

// What fits no result that is left is donated without an alias.
// CHECK-LABEL: func.func @no_result_left(
// CHECK: origin=["g"]>
// CHECK-SAME: {arg_attrs = [{jax.buffer_donor = true}, {tf.aliasing_output = 0 : i32}, {jax.buffer_donor = true}]}
func.func @no_result_left(%a: !m0) -> !m0 attributes {topology = #topology} {
  %0:3 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x: tensor<4x8xf32>) {
    %1 = stablehlo.convert %x : (tensor<4x8xf32>) -> tensor<4x8xf16>
    mpmd.return %1, %x, %x : tensor<4x8xf16>, tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m0) -> (!m0_f16, !m0, !m0)
  %2 = mpmd.fragment<mesh="m0", origin=["g"]> (%0#0, %0#1, %0#2)
      (%x: tensor<4x8xf16>, %y: tensor<4x8xf32>, %z: tensor<4x8xf32>) {
    mpmd.return %y : tensor<4x8xf32>
  } : (!m0_f16, !m0, !m0) -> !m0
  return %2 : !m0
}

// A returned or transferred value is kept; what a transfer made is not.
// CHECK-LABEL: func.func @kept(
// CHECK: %[[F:.*]]:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0) (
// CHECK: %[[T:.*]] = mpmd.transfer %[[F]]#0
// CHECK: origin=["g"]> (%[[F]]#0, %[[F]]#1) (
// CHECK: origin=["h"]> (%[[T]]) {arg_attrs = [{tf.aliasing_output = 0 : i32}]}
func.func @kept(%a: !m0) -> (!m0, !m0, !m1) attributes {topology = #topology} {
  %0:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x: tensor<4x8xf32>) {
    mpmd.return %x, %x : tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m0) -> (!m0, !m0)
  %1 = mpmd.transfer %0#0 : (!m0) -> !m1
  %2 = mpmd.fragment<mesh="m0", origin=["g"]> (%0#0, %0#1) (%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) {
    mpmd.return %x : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  %3 = mpmd.fragment<mesh="m1", origin=["h"]> (%1) (%x: tensor<4x8xf32>) {
    mpmd.return %x : tensor<4x8xf32>
  } : (!m1) -> !m1
  return %0#1, %2, %3 : !m0, !m0, !m1
}
