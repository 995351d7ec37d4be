// Two stages a mesh: as many microbatches as there are meshes go through all stages at a time.
// RUN: mpmd-opt %s -mpmd-pipeline-scheduler=must-happen-before=builtin:Circular | FileCheck %s --check-prefix=M0
// RUN: mpmd-opt %s -mpmd-pipeline-scheduler=must-happen-before=builtin:Circular | FileCheck %s --check-prefix=M1

!m0 = !mpmd.mesh_tensor<"m0", tensor<4xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xf32>>

// M0-LABEL: func.func @main
// M0: fragment<mesh="m0", origin=["s0"], stage=0>{{.*}}call_counter = 0 :
// M0: fragment<mesh="m0", origin=["s0"], stage=0>{{.*}}call_counter = 1 :
// M0: fragment<mesh="m0", origin=["s2"], stage=2>{{.*}}call_counter = 0 :
// M0: fragment<mesh="m0", origin=["s2"], stage=2>{{.*}}call_counter = 1 :
// M0: fragment<mesh="m0", origin=["s0"], stage=0>{{.*}}call_counter = 2 :
// M0: fragment<mesh="m0", origin=["s2"], stage=2>{{.*}}call_counter = 2 :
// M0: fragment<mesh="m0", origin=["s2"(1)], stage=2>{{.*}}call_counter = 0 :
// M0: fragment<mesh="m0", origin=["s2"(1)], stage=2>{{.*}}call_counter = 1 :
// M0: fragment<mesh="m0", origin=["s0"(1)], stage=0>{{.*}}call_counter = 0 :
// M0: fragment<mesh="m0", origin=["s0"(1)], stage=0>{{.*}}call_counter = 1 :
// M0: fragment<mesh="m0", origin=["s2"(1)], stage=2>{{.*}}call_counter = 2 :
// M0: fragment<mesh="m0", origin=["s0"(1)], stage=0>{{.*}}call_counter = 2 :
// M1-LABEL: func.func @main
// M1: fragment<mesh="m1", origin=["s1"], stage=1>{{.*}}call_counter = 0 :
// M1: fragment<mesh="m1", origin=["s1"], stage=1>{{.*}}call_counter = 1 :
// M1: fragment<mesh="m1", origin=["s3"], stage=3>{{.*}}call_counter = 0 :
// M1: fragment<mesh="m1", origin=["s3"], stage=3>{{.*}}call_counter = 1 :
// M1: fragment<mesh="m1", origin=["s1"], stage=1>{{.*}}call_counter = 2 :
// M1: fragment<mesh="m1", origin=["s3"], stage=3>{{.*}}call_counter = 2 :
// M1: fragment<mesh="m1", origin=["s3"(1)], stage=3>{{.*}}call_counter = 0 :
// M1: fragment<mesh="m1", origin=["s3"(1)], stage=3>{{.*}}call_counter = 1 :
// M1: fragment<mesh="m1", origin=["s1"(1)], stage=1>{{.*}}call_counter = 0 :
// M1: fragment<mesh="m1", origin=["s1"(1)], stage=1>{{.*}}call_counter = 1 :
// M1: fragment<mesh="m1", origin=["s3"(1)], stage=3>{{.*}}call_counter = 2 :
// M1: fragment<mesh="m1", origin=["s1"(1)], stage=1>{{.*}}call_counter = 2 :
func.func @main(%a: !m0, %b: !m1) -> (!m0, !m0, !m0)
    attributes {topology = #mpmd.topology<<"m0" : <["x"=2]>>, <"m1" : <["x"=2]>>>} {
  %f0_0 = mpmd.fragment<mesh="m0", origin=["s0"], stage=0> (%a) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %t1_0 = mpmd.transfer %f0_0 : (!m0) -> !m1
  %f1_0 = mpmd.fragment<mesh="m1", origin=["s1"], stage=1> (%t1_0) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m1) -> !m1
  %t2_0 = mpmd.transfer %f1_0 : (!m1) -> !m0
  %f2_0 = mpmd.fragment<mesh="m0", origin=["s2"], stage=2> (%t2_0) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %t3_0 = mpmd.transfer %f2_0 : (!m0) -> !m1
  %f3_0 = mpmd.fragment<mesh="m1", origin=["s3"], stage=3> (%t3_0) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m1) -> !m1
  %b3_0 = mpmd.fragment<mesh="m1", origin=["s3"(1)], stage=3> (%f3_0) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m1) -> !m1
  %u2_0 = mpmd.transfer %b3_0 : (!m1) -> !m0
  %b2_0 = mpmd.fragment<mesh="m0", origin=["s2"(1)], stage=2> (%u2_0) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %u1_0 = mpmd.transfer %b2_0 : (!m0) -> !m1
  %b1_0 = mpmd.fragment<mesh="m1", origin=["s1"(1)], stage=1> (%u1_0) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m1) -> !m1
  %u0_0 = mpmd.transfer %b1_0 : (!m1) -> !m0
  %b0_0 = mpmd.fragment<mesh="m0", origin=["s0"(1)], stage=0> (%u0_0) {call_counter = 0 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %f0_1 = mpmd.fragment<mesh="m0", origin=["s0"], stage=0> (%a) {call_counter = 1 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %t1_1 = mpmd.transfer %f0_1 : (!m0) -> !m1
  %f1_1 = mpmd.fragment<mesh="m1", origin=["s1"], stage=1> (%t1_1) {call_counter = 1 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m1) -> !m1
  %t2_1 = mpmd.transfer %f1_1 : (!m1) -> !m0
  %f2_1 = mpmd.fragment<mesh="m0", origin=["s2"], stage=2> (%t2_1) {call_counter = 1 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %t3_1 = mpmd.transfer %f2_1 : (!m0) -> !m1
  %f3_1 = mpmd.fragment<mesh="m1", origin=["s3"], stage=3> (%t3_1) {call_counter = 1 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m1) -> !m1
  %b3_1 = mpmd.fragment<mesh="m1", origin=["s3"(1)], stage=3> (%f3_1) {call_counter = 1 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m1) -> !m1
  %u2_1 = mpmd.transfer %b3_1 : (!m1) -> !m0
  %b2_1 = mpmd.fragment<mesh="m0", origin=["s2"(1)], stage=2> (%u2_1) {call_counter = 1 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %u1_1 = mpmd.transfer %b2_1 : (!m0) -> !m1
  %b1_1 = mpmd.fragment<mesh="m1", origin=["s1"(1)], stage=1> (%u1_1) {call_counter = 1 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m1) -> !m1
  %u0_1 = mpmd.transfer %b1_1 : (!m1) -> !m0
  %b0_1 = mpmd.fragment<mesh="m0", origin=["s0"(1)], stage=0> (%u0_1) {call_counter = 1 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %f0_2 = mpmd.fragment<mesh="m0", origin=["s0"], stage=0> (%a) {call_counter = 2 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %t1_2 = mpmd.transfer %f0_2 : (!m0) -> !m1
  %f1_2 = mpmd.fragment<mesh="m1", origin=["s1"], stage=1> (%t1_2) {call_counter = 2 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m1) -> !m1
  %t2_2 = mpmd.transfer %f1_2 : (!m1) -> !m0
  %f2_2 = mpmd.fragment<mesh="m0", origin=["s2"], stage=2> (%t2_2) {call_counter = 2 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %t3_2 = mpmd.transfer %f2_2 : (!m0) -> !m1
  %f3_2 = mpmd.fragment<mesh="m1", origin=["s3"], stage=3> (%t3_2) {call_counter = 2 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m1) -> !m1
  %b3_2 = mpmd.fragment<mesh="m1", origin=["s3"(1)], stage=3> (%f3_2) {call_counter = 2 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m1) -> !m1
  %u2_2 = mpmd.transfer %b3_2 : (!m1) -> !m0
  %b2_2 = mpmd.fragment<mesh="m0", origin=["s2"(1)], stage=2> (%u2_2) {call_counter = 2 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  %u1_2 = mpmd.transfer %b2_2 : (!m0) -> !m1
  %b1_2 = mpmd.fragment<mesh="m1", origin=["s1"(1)], stage=1> (%u1_2) {call_counter = 2 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m1) -> !m1
  %u0_2 = mpmd.transfer %b1_2 : (!m1) -> !m0
  %b0_2 = mpmd.fragment<mesh="m0", origin=["s0"(1)], stage=0> (%u0_2) {call_counter = 2 : ui32} (%x0: tensor<4xf32>) {
    mpmd.return %x0 : tensor<4xf32>
  } : (!m0) -> !m0
  return %b0_0, %b0_1, %b0_2 : !m0, !m0, !m0
}
