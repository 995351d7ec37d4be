// RUN: mpmd-opt %s -mpmd-enforce-user-shardings | FileCheck %s

!m1_4x8 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2_4x8 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2, "y"=2]>>, <"m2": <["x"=2, "y"=2]>>>
sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func @argument
// CHECK: mpmd.fragment<{{.*}}in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"y"}, {}]>], out_shardings=[<@mesh, [{"y"}, {}]>]
func.func @argument(%arg0: !m1_4x8 {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: !m1_4x8)
    -> !m1_4x8 attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"], in_shardings=[<@mesh, [{"y"}, {}]>, <@mesh, [{"y"}, {}]>], out_shardings=[<@mesh, [{"y"}, {}]>]> (%arg0, %arg1) (%arg2: tensor<4x8xf32>, %arg3: tensor<4x8xf32>) {
    %1 = stablehlo.add %arg2, %arg3 : tensor<4x8xf32>
    mpmd.return %1 : tensor<4x8xf32>
  } : (!m1_4x8, !m1_4x8) -> !m1_4x8
  return %0 : !m1_4x8
}

// The other user of the returned value follows; the transfer keeps its own sharding.
// CHECK-LABEL: func @returned_value
// CHECK: %[[F:.*]] = mpmd.fragment<{{.*}}origin=["f"]{{.*}}out_shardings=[<@mesh, [{"x"}, {}]>]
// CHECK: mpmd.fragment<{{.*}}origin=["g"], in_shardings=[<@mesh, [{"x"}, {}]>], out_shardings=[<@mesh, [{"y"}, {}]>]
// CHECK: mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} %[[F]]
func.func @returned_value(%arg0: !m1_4x8)
    -> (!m1_4x8 {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, !m1_4x8, !m2_4x8) attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"], in_shardings=[<@mesh, [{"y"}, {}]>], out_shardings=[<@mesh, [{"y"}, {}]>]> (%arg0) (%arg2: tensor<4x8xf32>) {
    mpmd.return %arg2 : tensor<4x8xf32>
  } : (!m1_4x8) -> !m1_4x8
  %1 = mpmd.fragment<mesh="m1", origin=["g"], in_shardings=[<@mesh, [{"y"}, {}]>], out_shardings=[<@mesh, [{"y"}, {}]>]> (%0) (%arg2: tensor<4x8xf32>) {
    mpmd.return %arg2 : tensor<4x8xf32>
  } : (!m1_4x8) -> !m1_4x8
  %2 = mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} %0 : (!m1_4x8) -> !m2_4x8
  return %0, %1, %2 : !m1_4x8, !m1_4x8, !m2_4x8
}

// Shardings that propagation did not set are filled up.
// CHECK-LABEL: func @no_shardings_yet
// CHECK: mpmd.fragment<{{.*}}out_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{?}, {?}]>]
func.func @no_shardings_yet(%arg0: !m1_4x8)
    -> (!m1_4x8 {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, !m1_4x8) attributes {topology = #topology} {
  %0:2 = mpmd.fragment<mesh="m1", origin=["f"]> (%arg0) (%arg2: tensor<4x8xf32>) {
    mpmd.return %arg2, %arg2 : tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m1_4x8) -> (!m1_4x8, !m1_4x8)
  return %0#0, %0#1 : !m1_4x8, !m1_4x8
}

// CHECK-LABEL: func @returned_transfer
// CHECK: mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} %arg0
func.func @returned_transfer(%arg0: !m1_4x8)
    -> (!m2_4x8 {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) attributes {topology = #topology} {
  %0 = mpmd.transfer {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} %arg0 : (!m1_4x8) -> !m2_4x8
  return %0 : !m2_4x8
}

// CHECK-LABEL: func @returned_twice
// CHECK: mpmd.fragment<{{.*}}out_shardings=[<@mesh, [{}, {"y"}]>]
func.func @returned_twice(%arg0: !m1_4x8)
    -> (!m1_4x8 {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, !m1_4x8 {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"], in_shardings=[<@mesh, [{"x"}, {}]>], out_shardings=[<@mesh, [{"x"}, {}]>]> (%arg0) (%arg2: tensor<4x8xf32>) {
    mpmd.return %arg2 : tensor<4x8xf32>
  } : (!m1_4x8) -> !m1_4x8
  return %0, %0 : !m1_4x8, !m1_4x8
}

// Only what a user calls has shardings that a user gave.
// CHECK-LABEL: func private @not_an_entry_point
// CHECK: in_shardings=[<@mesh, [{"y"}, {}]>]
func.func private @not_an_entry_point(%arg0: !m1_4x8 {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> !m1_4x8 attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m1", origin=["f"], in_shardings=[<@mesh, [{"y"}, {}]>], out_shardings=[<@mesh, [{"y"}, {}]>]> (%arg0) (%arg2: tensor<4x8xf32>) {
    mpmd.return %arg2 : tensor<4x8xf32>
  } : (!m1_4x8) -> !m1_4x8
  return %0 : !m1_4x8
}

// CHECK-LABEL: func @calls
// CHECK: @f(%arg0) {in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>}
func.func @calls(%arg0: !m1_4x8 {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (!m1_4x8 {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) attributes {topology = #topology} {
  %0 = mpmd.fragment_call<mesh="m1", origin=["f"]> @f(%arg0) : (!m1_4x8) -> !m1_4x8
  return %0 : !m1_4x8
}
func.func private @f(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2, "y"=2]>} {
  return %arg0 : tensor<4x8xf32>
}
