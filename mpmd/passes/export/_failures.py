"""What a validation does with the faults that it finds."""

from __future__ import annotations

from collections.abc import Sequence

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.diagnostics import report
from mpmd.passes.base import PassFailure

Fault = tuple[ir.Operation, str]


def fail_or_warn(faults: Sequence[Fault], failing: bool) -> None:
    """Fails with every fault as an error, or only warns of them."""
    if failing and faults:
        for op, message in faults[:-1]:
            report("error", op, message)
        raise PassFailure(*faults[-1])
    for op, message in faults:
        report("warning", op, message)
