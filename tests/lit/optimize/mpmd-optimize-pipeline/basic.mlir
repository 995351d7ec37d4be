// RUN: mpmd-opt %s -mpmd-optimize-pipeline=pipeline-schedule=1F1B | FileCheck %s
// RUN: mpmd-opt %s -mpmd-optimize-pipeline='pipeline-schedule=1F1B outline-bodies=true' | FileCheck %s --check-prefix=CALL
// RUN: mpmd-opt %s -mpmd-optimize-pipeline='pipeline-schedule=none' | FileCheck %s --check-prefix=NONE
// RUN: mpmd-opt %s -mpmd-optimize-pipeline='pipeline-schedule=GPipe fragment-remat=true' | FileCheck %s --check-prefix=REMAT
// RUN: mpmd-opt %s -mpmd-optimize-pipeline='merge-after-scheduling=true' | FileCheck %s --check-prefix=LATE
// RUN: mpmd-opt %s -mpmd-optimize-pipeline='pipeline-schedule=none schedule-rules=FragmentScheduleRule(ordered_fragments=[FragmentInfo(origins=["f"],call_counter=1,mesh_name="m0")->FragmentInfo(origins=["f"],call_counter=0,mesh_name="m0")])' | FileCheck %s --check-prefix=RULES

!m0 = !mpmd.mesh_tensor<"m0", tensor<8xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>>

// CHECK-LABEL: func.func @main
// CHECK: origin=["f"]>{{.*}}call_counter = 0
// CHECK: origin=["f"(1)]>{{.*}}call_counter = 0
// CHECK: origin=["f"]>{{.*}}call_counter = 1
// CHECK: origin=["f"(1)]>{{.*}}call_counter = 1
// CHECK: origin=[]>
// CALL-LABEL: func.func @main
// CALL: @f_fwd({{.*}}call_counter = 0
// CALL: @f_bwd({{.*}}call_counter = 0
// CALL: @f_fwd({{.*}}call_counter = 1
// CALL: @f_bwd({{.*}}call_counter = 1
// CALL: @inferred(
// NONE-LABEL: func.func @main
// NONE: origin=["f"]>{{.*}}call_counter = 0
// NONE: origin=["f"]>{{.*}}call_counter = 1
// NONE: origin=["f"(1)]>{{.*}}call_counter = 0
// NONE: origin=["f"(1)]>{{.*}}call_counter = 1
// REMAT-LABEL: func.func @main
// REMAT: origin=["f"]>{{.*}}call_counter = 0 : ui32} (
// REMAT: origin=["f"]>{{.*}}call_counter = 1 : ui32} (
// REMAT: %[[F0:.*]] = mpmd.fragment<mesh="m0", origin=["f"]>{{.*}}call_counter = 0 : ui32, remat} (
// REMAT: origin=["f"(1)]> (%arg0, %[[F0]])
// LATE-LABEL: func.func @main
// LATE: origin=["f"(1)]>{{.*}}call_counter = 1
// LATE-NOT: origin=[]
// RULES-LABEL: func.func @main
// RULES: origin=["f"]>{{.*}}call_counter = 1
// RULES: origin=["f"]>{{.*}}call_counter = 0
func.func @main(%w: !m0, %x: !m0, %y: !m0) -> !m0 attributes {topology = #topology} {
  %f0 = mpmd.fragment<mesh="m0", origin=["f"]> (%w, %x) {call_counter = 0 : ui32} (%p: tensor<8xf32>, %q: tensor<8xf32>) {
    %r = stablehlo.subtract %p, %q : tensor<8xf32>
    mpmd.return %r : tensor<8xf32>
  } : (!m0, !m0) -> !m0
  %f1 = mpmd.fragment<mesh="m0", origin=["f"]> (%w, %y) {call_counter = 1 : ui32} (%p: tensor<8xf32>, %q: tensor<8xf32>) {
    %r = stablehlo.subtract %p, %q : tensor<8xf32>
    mpmd.return %r : tensor<8xf32>
  } : (!m0, !m0) -> !m0
  %b0 = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%w, %f0) {call_counter = 0 : ui32} (%p: tensor<8xf32>, %q: tensor<8xf32>) {
    %r = stablehlo.multiply %p, %q : tensor<8xf32>
    mpmd.return %r : tensor<8xf32>
  } : (!m0, !m0) -> !m0
  %b1 = mpmd.fragment<mesh="m0", origin=["f"(1)]> (%w, %f1) {call_counter = 1 : ui32} (%p: tensor<8xf32>, %q: tensor<8xf32>) {
    %r = stablehlo.multiply %p, %q : tensor<8xf32>
    mpmd.return %r : tensor<8xf32>
  } : (!m0, !m0) -> !m0
  %s = mpmd.fragment<mesh="m0", origin=[]> (%b0, %b1) (%p: tensor<8xf32>, %q: tensor<8xf32>) {
    %r = stablehlo.add %p, %q : tensor<8xf32>
    mpmd.return %r : tensor<8xf32>
  } : (!m0, !m0) -> !m0
  return %s : !m0
}
