// RUN: not mpmd-opt %s -mpmd-pipeline-scheduler=must-happen-before=builtin:2F2B 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not mpmd-opt %s -mpmd-pipeline-scheduler=must-happen-before=1F1B 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not mpmd-opt %s -mpmd-pipeline-scheduler='must-happen-before={table:0B0 0F0}' 2>&1 | FileCheck %s --check-prefix=TABLE

// NAME: there is no schedule '2F2B'; there are 1F1B, Auto, Circular
// KIND: '1F1B' is neither 'builtin:' and the name of a schedule nor 'table:' and its tasks
// TABLE: the order is cyclic: 0B0 on mesh 0 waits for 0F0, which mesh 0 runs after 0B0
