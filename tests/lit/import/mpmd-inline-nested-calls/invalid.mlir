// RUN: mpmd-opt %s -mpmd-inline-nested-calls -verify-diagnostics

func.func private @ping(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = mpmd.call @pong(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func private @pong(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{mpmd.call is recursive: @ping -> @pong -> @ping}}
  %0 = mpmd.call @ping(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
