// RUN: mpmd-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// expected-error @below {{use of undeclared SSA value name}}
func.func @fails() -> tensor<4xf32> { return %b : tensor<4xf32> }

// -----

// CHECK-LABEL: func @passes
func.func @passes(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }

// -----

func.func @fails_too() -> tensor<4xf32> {
  return  // expected-error-re {{has 0 operands, but {{[a-z]+}} function (@fails_too)}}
}
