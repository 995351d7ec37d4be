// RUN: mpmd-opt %s -allow-unregistered-dialect | FileCheck %s
// RUN: not mpmd-opt %s 2>&1 | FileCheck %s --check-prefix=REFUSED

// REFUSED: unregistered.mlir:{{[0-9]+}}:12: error: operation being parsed
// CHECK: "foo.bar"
func.func @unknown_dialect() {
  "foo.bar"() : () -> ()
  return
}
