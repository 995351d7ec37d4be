// RUN: mpmd-opt %s -mpmd-infer-mesh-populate-use-set | FileCheck %s

!t = tensor<4x8xf32>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>

// The second call needs the result of the first where the callee needs its argument.
// CHECK-LABEL: func @main
// CHECK-SAME:    mpmd.use_set = #mpmd.meshes_with_origins<"m2"["out"], "m1"["f"]>
func.func @main(%a: !t) -> !m2 attributes {topology = #topology} {
  // CHECK: mpmd.call @f({{.*}}) {call_counter = 0 : ui32}
  %0 = mpmd.call @f(%a) {call_counter = 0 : ui32} : (!t) -> !t
  %1 = mpmd.call @f(%0) {call_counter = 1 : ui32} : (!t) -> !t
  %2 = mpmd.assign {origin = "out"} %1 : (!t) -> !m2
  return %2 : !m2
}

// CHECK-LABEL: func private @f
// CHECK-SAME:    (%arg0: tensor<4x8xf32> {mpmd.use_set = #mpmd.meshes_with_origins<"m2"["out"], "m1"["f"]>})
// CHECK-SAME:    -> (tensor<4x8xf32> {mpmd.use_set = #mpmd.meshes_with_origins<"m2"["out"], "m1"["f"]>})
func.func private @f(%a: !t) -> !t attributes {topology = #topology} {
  // CHECK: stablehlo.sine %arg0 {mpmd.use_set = #mpmd.meshes_with_origins<"m1"["f"]>}
  %0 = stablehlo.sine %a : !t
  %1 = mpmd.assign {origin = "f"} %0 : (!t) -> !m1
  // CHECK: stablehlo.cosine %arg0 {mpmd.use_set = #mpmd.meshes_with_origins<"m2"["out"], "m1"["f"]>}
  %2 = stablehlo.cosine %a : !t
  return %2 : !t
}
