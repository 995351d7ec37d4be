// RUN: mpmd-opt %s -mpmd-mark-input-output-with-layouts | FileCheck %s

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>>

// Layouts of arguments and results reach the fragments; "default" says nothing.
// CHECK-LABEL: func.func @boundary(
// CHECK-SAME: %arg0: {{[^,]*, [^,]*}} {mhlo.layout_mode = "{0,1}"}
// CHECK-NOT: mhlo.layout_mode = "default"
// CHECK: origin=["f"]> (%arg0, %arg1, %arg2)
// CHECK-SAME: arg_attrs = [{mhlo.layout_mode = "{0,1}"}, {mhlo.layout_mode = "auto"}, {}]
// CHECK-SAME: res_attrs = [{mhlo.layout_mode = "auto"}, {mhlo.layout_mode = "{1,0}"}]
func.func @boundary(%a: !m0 {mhlo.layout_mode = "{0,1}"}, %b: !m0 {mhlo.layout_mode = "auto"},
    %c: !m0 {mhlo.layout_mode = "default"})
    -> (!m0 {mhlo.layout_mode = "auto"}, !m0 {mhlo.layout_mode = "{1,0}"})
    attributes {topology = #topology} {
  %0:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%a, %b, %c)
      (%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %z: tensor<4x8xf32>) {
    mpmd.return %x, %y : tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m0, !m0, !m0) -> (!m0, !m0)
  return %0#0, %0#1 : !m0, !m0
}

// A value of several programs cannot have a layout that XLA chooses; a given one holds for all.
// CHECK-LABEL: func.func @shared(
// CHECK-SAME: -> (!mpmd.mesh_tensor<"m0", tensor<4x8xf32>>, !mpmd.mesh_tensor<"m0", tensor<4x8xf32>> {mhlo.layout_mode = "{0,1}"})
// CHECK: origin=["f"]> (%arg0) {arg_attrs = [{}], res_attrs = [{}, {mhlo.layout_mode = "{0,1}"}]}
// CHECK: origin=["g"]> (%arg0, %{{.*}}#0, %{{.*}}#1) {arg_attrs = [{}, {}, {mhlo.layout_mode = "{0,1}"}]
func.func @shared(%a: !m0 {mhlo.layout_mode = "auto"})
    -> (!m0 {mhlo.layout_mode = "auto"}, !m0 {mhlo.layout_mode = "{0,1}"})
    attributes {topology = #topology} {
  %0:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x: tensor<4x8xf32>) {
    mpmd.return %x, %x : tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m0) -> (!m0, !m0)
  %1 = mpmd.fragment<mesh="m0", origin=["g"]> (%a, %0#0, %0#1)
      (%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %z: tensor<4x8xf32>) {
    mpmd.return %x : tensor<4x8xf32>
  } : (!m0, !m0, !m0) -> !m0
  return %0#0, %0#1 : !m0, !m0
}

// Transferred values have the default layout; what a transfer returns is not touched.
// CHECK-LABEL: func.func @transferred(
// CHECK-SAME: %arg0: !mpmd.mesh_tensor<"m0", tensor<4x8xf32>>) -> (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>> {mhlo.layout_mode = "auto"})
func.func @transferred(%a: !m0 {mhlo.layout_mode = "{0,1}"}) -> (!m1 {mhlo.layout_mode = "auto"})
    attributes {topology = #topology} {
  %0 = mpmd.transfer %a : (!m0) -> !m1
  return %0 : !m1
}

// An argument that is returned has the layout of the result, and the other way round.
// CHECK-LABEL: func.func @returned_argument(
// CHECK-SAME: %arg0: !mpmd.mesh_tensor<"m0", tensor<4x8xf32>> {mhlo.layout_mode = "{0,1}"}
// CHECK-SAME: %arg1: !mpmd.mesh_tensor<"m0", tensor<4x8xf32>> {mhlo.layout_mode = "{1,0}"}
// CHECK-SAME: -> (!mpmd.mesh_tensor<"m0", tensor<4x8xf32>> {mhlo.layout_mode = "{0,1}"}, !mpmd.mesh_tensor<"m0", tensor<4x8xf32>> {mhlo.layout_mode = "{1,0}"})
func.func @returned_argument(%a: !m0 {mhlo.layout_mode = "auto"}, %b: !m0 {mhlo.layout_mode = "{1,0}"})
    -> (!m0 {mhlo.layout_mode = "{0,1}"}, !m0 {mhlo.layout_mode = "auto"})
    attributes {topology = #topology} {
  return %a, %b : !m0, !m0
}

// CHECK-LABEL: func.func @no_layouts(
// CHECK: origin=["f"]> (%arg0) {arg_attrs = [{}], res_attrs = [{}]}
func.func @no_layouts(%a: !m0) -> !m0 attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x: tensor<4x8xf32>) {
    mpmd.return %x : tensor<4x8xf32>
  } : (!m0) -> !m0
  return %0 : !m0
}

// Only what a user calls has inputs and outputs.
// CHECK-LABEL: func.func private @not_an_entry_point(
// CHECK-NOT: arg_attrs
func.func private @not_an_entry_point(%a: !m0 {mhlo.layout_mode = "{0,1}"}) -> !m0
    attributes {topology = #topology} {
  %0 = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x: tensor<4x8xf32>) {
    mpmd.return %x : tensor<4x8xf32>
  } : (!m0) -> !m0
  return %0 : !m0
}
