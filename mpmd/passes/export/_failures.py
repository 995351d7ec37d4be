"""What a pass does with the faults that it finds in a program."""

from __future__ import annotations

from collections.abc import Sequence

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.diagnostics import report
from mpmd.passes.base import PassFailure, raise_all

Fault = tuple[ir.Operation | ir.Location, str]


def fail_or_warn(faults: Sequence[Fault], failing: bool) -> None:
    """Fails with every fault as an error, or only warns of them."""
    if failing:
        raise_all([PassFailure(*fault) for fault in faults])
        return
    for where, message in faults:
        report("warning", where, message)
