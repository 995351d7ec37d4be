// RUN: not mpmd-opt %s -mpmd-rule-based-schedule='rules=FragmentScheduleRule(ordered_fragments=[FragmentInfo(origins=["f"])])' 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: not mpmd-opt %s -mpmd-rule-based-schedule='rules=FragmentScheduleRule(ordered_fragments=[FragmentInfo(origins=["f"],color=3)])' 2>&1 | FileCheck %s --check-prefix=FIELD
// RUN: not mpmd-opt %s -mpmd-rule-based-schedule='rules=FragmentScheduleRule(ordered_fragments=[FragmentInfo(origins=["f"],call_counter=one)])' 2>&1 | FileCheck %s --check-prefix=NUMBER

// ONE: a schedule rule needs at least two fragments
// FIELD: FragmentInfo has no field 'color'; it has: stage, call_counter, split_type, mesh_name
// NUMBER: expected an integer for 'call_counter' at 'one)])'
