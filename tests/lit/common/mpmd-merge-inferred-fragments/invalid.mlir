// RUN: mpmd-opt %s -mpmd-merge-inferred-fragments='merge-any-consumer=true merge-sideways=true' -verify-diagnostics

// expected-error@+1 {{merge-any-consumer and merge-sideways exclude each other}}
module {
}
