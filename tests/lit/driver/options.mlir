// Options may follow the file, passes run in the order of the flags, -x and --x are the same.
// RUN: mpmd-opt -cse %s --canonicalize='max-iterations=3' | FileCheck %s
// RUN: mpmd-opt %s --pass-pipeline='builtin.module(func.func(cse),canonicalize{max-iterations=3})' | FileCheck %s
// RUN: mpmd-opt %s -cse -canonicalize='max-iterations=3' -show-pipeline | FileCheck %s --check-prefix=PIPELINE
// RUN: mpmd-opt %s -cse -emit-bytecode | mpmd-opt | FileCheck %s
// RUN: mpmd-opt %s -mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: mpmd-opt %s -cse --mlir-print-ir-after=cse -o /dev/null 2>&1 | FileCheck %s --check-prefix=AFTER
// RUN: mpmd-opt -- %s | FileCheck %s --check-prefix=UNCHANGED
// RUN: cat %s | mpmd-opt - -mlir-timing -cse 2>&1 | FileCheck %s --check-prefix=TIMING

// PIPELINE: builtin.module(cse,canonicalize{max-iterations=3})
// GENERIC: "func.func"()
// AFTER: IR Dump After cse
// TIMING: Pass execution timing
// TIMING: cse

// CHECK-LABEL: func.func @adds_once
// CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %arg0, %arg0
// CHECK-NEXT: stablehlo.multiply %[[SUM]], %[[SUM]]
// UNCHANGED: stablehlo.add
// UNCHANGED-NEXT: stablehlo.add
func.func @adds_once(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>
  %1 = stablehlo.add %arg0, %arg0 : tensor<4xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
