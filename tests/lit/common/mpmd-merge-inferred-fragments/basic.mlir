// RUN: mpmd-opt %s -mpmd-merge-inferred-fragments | FileCheck %s
// RUN: mpmd-opt %s -mpmd-outline-fragments -mpmd-merge-inferred-fragments | FileCheck %s --check-prefix=CALL

!m0 = !mpmd.mesh_tensor<"m0", tensor<4x8xf32>>
!m1 = !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
!m2 = !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
#topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>, <"m2": <["x"=2]>>>

// CHECK-LABEL: func.func @into_consumer(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0, %arg1) (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]]
// CALL-LABEL: func.func @into_consumer(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0, %arg1)
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V0]]
func.func @into_consumer(%a: !m0, %b: !m0) -> (!m0) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=[]> (%a, %b) (%x_0: tensor<4x8xf32>, %x_1: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_1 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  %y = mpmd.fragment<mesh="m0", origin=["f"]> (%b, %x, %b) (%y_0: tensor<4x8xf32>, %y_1: tensor<4x8xf32>, %y_2: tensor<4x8xf32>) {
    %y_o = stablehlo.add %y_0, %y_2 : tensor<4x8xf32>
    mpmd.return %y_o : tensor<4x8xf32>
  } : (!m0, !m0, !m0) -> !m0
  return %y : !m0
}

// CHECK-LABEL: func.func @into_producer(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0, %arg1) (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]]
// CALL-LABEL: func.func @into_producer(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0, %arg1)
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V0]]
func.func @into_producer(%a: !m0, %b: !m0) -> (!m0) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=["f"]> (%a, %b) (%x_0: tensor<4x8xf32>, %x_1: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_1 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  %y = mpmd.fragment<mesh="m0", origin=[]> (%x, %b) (%y_0: tensor<4x8xf32>, %y_1: tensor<4x8xf32>) {
    %y_o = stablehlo.add %y_0, %y_1 : tensor<4x8xf32>
    mpmd.return %y_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  return %y : !m0
}

// All of a chain becomes one fragment.
// CHECK-LABEL: func.func @chain_of_inferred(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=[]> (%arg0, %arg1) (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]]
// CALL-LABEL: func.func @chain_of_inferred(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m0", origin=[]> @{{.*}}(%arg0, %arg1)
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V0]]
func.func @chain_of_inferred(%a: !m0, %b: !m0) -> (!m0) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=[]> (%a, %b) (%x_0: tensor<4x8xf32>, %x_1: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_1 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  %y = mpmd.fragment<mesh="m0", origin=[]> (%x, %b) (%y_0: tensor<4x8xf32>, %y_1: tensor<4x8xf32>) {
    %y_o = stablehlo.add %y_0, %y_1 : tensor<4x8xf32>
    mpmd.return %y_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  %z = mpmd.fragment<mesh="m0", origin=[]> (%y, %x) (%z_0: tensor<4x8xf32>, %z_1: tensor<4x8xf32>) {
    %z_o = stablehlo.add %z_0, %z_1 : tensor<4x8xf32>
    mpmd.return %z_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  return %z : !m0
}

// Operands keep their places where one goes in and one comes out.
// CHECK-LABEL: func.func @one_operand_takes_the_place_of_the_result(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=["f"]> (%arg1, %arg0) (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]]
// CALL-LABEL: func.func @one_operand_takes_the_place_of_the_result(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg1, %arg0)
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V0]]
func.func @one_operand_takes_the_place_of_the_result(%a: !m0, %b: !m0) -> (!m0) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=[]> (%a) (%x_0: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_0 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  %y = mpmd.fragment<mesh="m0", origin=["f"]> (%b, %x) (%y_0: tensor<4x8xf32>, %y_1: tensor<4x8xf32>) {
    %y_o = stablehlo.add %y_0, %y_1 : tensor<4x8xf32>
    mpmd.return %y_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  return %y : !m0
}

// Other users of the producer use the merged fragment.
// CHECK-LABEL: func.func @result_used_elsewhere(
// CHECK: %[[V0:.*]]:3 = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0, %arg1) (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]]#1, %[[V0]]#2, %[[V0]]#0
// CALL-LABEL: func.func @result_used_elsewhere(
// CALL: %[[V0:.*]]:3 = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0, %arg1)
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V0]]#1, %[[V0]]#2, %[[V0]]#0
func.func @result_used_elsewhere(%a: !m0, %b: !m0) -> (!m0, !m0, !m0) attributes {topology = #topology} {
  %x:2 = mpmd.fragment<mesh="m0", origin=[]> (%a, %b) (%x_0: tensor<4x8xf32>, %x_1: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_1 : tensor<4x8xf32>
    %y_o = stablehlo.multiply %x_0, %x_1 : tensor<4x8xf32>
    mpmd.return %x_o, %y_o : tensor<4x8xf32>, tensor<4x8xf32>
  } : (!m0, !m0) -> (!m0, !m0)
  %z = mpmd.fragment<mesh="m0", origin=["f"]> (%x#0) (%z_0: tensor<4x8xf32>) {
    %z_o = stablehlo.add %z_0, %z_0 : tensor<4x8xf32>
    mpmd.return %z_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  return %x#1, %z, %x#0 : !m0, !m0, !m0
}

// A transfer that uses the producer comes after the merged fragment.
// CHECK-LABEL: func.func @transfer_in_between(
// CHECK: %[[V0:.*]]:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0, %arg1) (
// CHECK: %[[V3:.*]] = mpmd.transfer %[[V0]]#0 : ({{.*}}"m0"{{.*}}) -> {{.*}}"m1"
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]]#1, %[[V3]]
// CALL-LABEL: func.func @transfer_in_between(
// CALL: %[[V0:.*]]:2 = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0, %arg1)
// CALL: %[[V1:.*]] = mpmd.transfer %[[V0]]#0 : ({{.*}}"m0"{{.*}}) -> {{.*}}"m1"
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V0]]#1, %[[V1]]
func.func @transfer_in_between(%a: !m0, %b: !m0) -> (!m0, !m1) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=[]> (%a, %b) (%x_0: tensor<4x8xf32>, %x_1: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_1 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  %t = mpmd.transfer %x : (!m0) -> !m1
  %y = mpmd.fragment<mesh="m0", origin=["f"]> (%x, %b) (%y_0: tensor<4x8xf32>, %y_1: tensor<4x8xf32>) {
    %y_o = stablehlo.add %y_0, %y_1 : tensor<4x8xf32>
    mpmd.return %y_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  return %y, %t : !m0, !m1
}

// Neither place is possible: the transfer comes from the producer and goes to the consumer.
// CHECK-LABEL: func.func @needed_before(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0) (
// CHECK: %[[V2:.*]] = mpmd.transfer %[[V0]] : ({{.*}}"m0"{{.*}}) -> {{.*}}"m1"
// CHECK: %[[V3:.*]] = mpmd.fragment<mesh="m1", origin=["g"]> (%[[V2]], %arg1) (
// CHECK: %[[V5:.*]] = mpmd.transfer %[[V3]] : ({{.*}}"m1"{{.*}}) -> {{.*}}"m0"
// CHECK: %[[V6:.*]] = mpmd.fragment<mesh="m0", origin=[]> (%[[V0]], %[[V5]]) (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V6]]
// CALL-LABEL: func.func @needed_before(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0)
// CALL: %[[V1:.*]] = mpmd.transfer %[[V0]] : ({{.*}}"m0"{{.*}}) -> {{.*}}"m1"
// CALL: %[[V2:.*]] = mpmd.fragment_call<mesh="m1", origin=["g"]> @{{.*}}(%[[V1]], %arg1)
// CALL: %[[V3:.*]] = mpmd.transfer %[[V2]] : ({{.*}}"m1"{{.*}}) -> {{.*}}"m0"
// CALL: %[[V4:.*]] = mpmd.fragment_call<mesh="m0", origin=[]> @{{.*}}(%[[V0]], %[[V3]])
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V4]]
func.func @needed_before(%a: !m0, %b: !m1) -> (!m0) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x_0: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_0 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  %t = mpmd.transfer %x : (!m0) -> !m1
  %y = mpmd.fragment<mesh="m1", origin=["g"]> (%t, %b) (%y_0: tensor<4x8xf32>, %y_1: tensor<4x8xf32>) {
    %y_o = stablehlo.add %y_0, %y_1 : tensor<4x8xf32>
    mpmd.return %y_o : tensor<4x8xf32>
  } : (!m1, !m1) -> !m1
  %s = mpmd.transfer %y : (!m1) -> !m0
  %z = mpmd.fragment<mesh="m0", origin=[]> (%x, %s) (%z_0: tensor<4x8xf32>, %z_1: tensor<4x8xf32>) {
    %z_o = stablehlo.add %z_0, %z_1 : tensor<4x8xf32>
    mpmd.return %z_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  return %z : !m0
}

// Two fragments of the user never merge.
// CHECK-LABEL: func.func @user_fragments(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0) (
// CHECK: %[[V2:.*]] = mpmd.fragment<mesh="m0", origin=["g"]> (%[[V0]]) (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V2]]
// CALL-LABEL: func.func @user_fragments(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0)
// CALL: %[[V1:.*]] = mpmd.fragment_call<mesh="m0", origin=["g"]> @{{.*}}(%[[V0]])
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V1]]
func.func @user_fragments(%a: !m0) -> (!m0) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=["f"]> (%a) (%x_0: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_0 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  %y = mpmd.fragment<mesh="m0", origin=["g"]> (%x) (%y_0: tensor<4x8xf32>) {
    %y_o = stablehlo.add %y_0, %y_0 : tensor<4x8xf32>
    mpmd.return %y_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  return %y : !m0
}

// Only the closest consumer may merge.
// CHECK-LABEL: func.func @second_consumer_is_not_asked(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=["f"]> (%arg0, %arg1) (
// CHECK: %[[V2:.*]] = mpmd.fragment<mesh="m0", origin=["g"]> (%[[V0]], %arg1) (
// CHECK: %[[V4:.*]] = mpmd.fragment<mesh="m0", origin=[]> (%[[V0]], %arg1) (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V2]], %[[V4]]
// CALL-LABEL: func.func @second_consumer_is_not_asked(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg0, %arg1)
// CALL: %[[V1:.*]] = mpmd.fragment_call<mesh="m0", origin=["g"]> @{{.*}}(%[[V0]], %arg1)
// CALL: %[[V2:.*]] = mpmd.fragment_call<mesh="m0", origin=[]> @{{.*}}(%[[V0]], %arg1)
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V1]], %[[V2]]
func.func @second_consumer_is_not_asked(%a: !m0, %b: !m0) -> (!m0, !m0) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=["f"]> (%a, %b) (%x_0: tensor<4x8xf32>, %x_1: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_1 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  %y = mpmd.fragment<mesh="m0", origin=["g"]> (%x, %b) (%y_0: tensor<4x8xf32>, %y_1: tensor<4x8xf32>) {
    %y_o = stablehlo.add %y_0, %y_1 : tensor<4x8xf32>
    mpmd.return %y_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  %z = mpmd.fragment<mesh="m0", origin=[]> (%x, %b) (%z_0: tensor<4x8xf32>, %z_1: tensor<4x8xf32>) {
    %z_o = stablehlo.add %z_0, %z_1 : tensor<4x8xf32>
    mpmd.return %z_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  return %y, %z : !m0, !m0
}

// An unused fragment goes.
// CHECK-LABEL: func.func @unused(
// CHECK: %[[V0:.*]] = mpmd.fragment<mesh="m0", origin=["f"]> (%arg1) (
// CHECK-NOT: {{= mpmd.}}
// CHECK: return %[[V0]]
// CALL-LABEL: func.func @unused(
// CALL: %[[V0:.*]] = mpmd.fragment_call<mesh="m0", origin=["f"]> @{{.*}}(%arg1)
// CALL-NOT: {{= mpmd.}}
// CALL: return %[[V0]]
func.func @unused(%a: !m0, %b: !m0) -> (!m0) attributes {topology = #topology} {
  %x = mpmd.fragment<mesh="m0", origin=[]> (%a, %b) (%x_0: tensor<4x8xf32>, %x_1: tensor<4x8xf32>) {
    %x_o = stablehlo.add %x_0, %x_1 : tensor<4x8xf32>
    mpmd.return %x_o : tensor<4x8xf32>
  } : (!m0, !m0) -> !m0
  %y = mpmd.fragment<mesh="m0", origin=["f"]> (%b) (%y_0: tensor<4x8xf32>) {
    %y_o = stablehlo.add %y_0, %y_0 : tensor<4x8xf32>
    mpmd.return %y_o : tensor<4x8xf32>
  } : (!m0) -> !m0
  return %y : !m0
}
