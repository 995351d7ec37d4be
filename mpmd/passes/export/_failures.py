"""What a pass does with the faults that it finds in a program."""

from __future__ import annotations

from collections.abc import Sequence

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.diagnostics import report
from mpmd.passes.base import PassFailure

Fault = tuple[ir.Operation | ir.Location, str]


def fail_or_warn(faults: Sequence[Fault], failing: bool) -> None:
    """Fails with every fault as an error, or only warns of them."""
    if failing and faults:
        for where, message in faults[:-1]:
            report("error", where, message)
        raise PassFailure(*faults[-1])
    for where, message in faults:
        report("warning", where, message)
