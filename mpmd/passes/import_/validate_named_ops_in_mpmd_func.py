"""The pass `mpmd-validate-named-ops-in-mpmd-func`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.diagnostics import report
from mpmd.dialect.functions import is_mpmd_function
from mpmd.passes.base import FunctionPass
from mpmd.passes.import_._nesting import TENSOR, labels


@dataclass(frozen=True)
class ValidateNamedOpsInMpmdFunc(FunctionPass):
    """Reports labels that stand neither directly in an MPMD function nor in an mpmd operation.

    Such a label, in a `stablehlo.while` for instance, cannot become a fragment. Every one is
    reported as an error, but the pass does not fail: the passes after it do, where it matters.
    """

    name: ClassVar[str] = "mpmd-validate-named-ops-in-mpmd-func"

    def applies_to(self, func: ir.Operation) -> bool:
        return True

    def run_on_function(self, func: ir.Operation) -> None:
        for label in labels(func):
            if not _may_hold_labels(label.parent.operation):
                what = "tensors" if label.name == TENSOR else "computations"
                message = f"Named {what} can only be nested in mpmd functions or mpmd ops."
                report("error", label, message)


def _may_hold_labels(op: ir.Operation) -> bool:
    return is_mpmd_function(op) if op.name == "func.func" else op.name.startswith("mpmd.")
