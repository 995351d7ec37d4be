"""Diagnostics of our own passes, in MLIR's terms.

The bindings can emit errors only, and a Python pass run by MLIR's pass manager loses even those.
Passes therefore report here; whoever runs them (the driver, `mpmd.jit`) decides what to do with it.
"""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from mpmd.dialect._jaxlib import ir

Severity = Literal["error", "warning", "remark", "note"]


@dataclass(frozen=True)
class Diagnostic:
    """One message about a place in a module; notes are (location, message) pairs."""

    severity: Severity
    location: ir.Location
    message: str
    notes: tuple[tuple[ir.Location, str], ...] = ()


_collector: contextvars.ContextVar[list[Diagnostic] | None] = contextvars.ContextVar(
    "mpmd_diagnostics", default=None
)


@contextlib.contextmanager
def collect() -> Iterator[list[Diagnostic]]:
    """Yields a list that receives every diagnostic reported inside the block."""
    found: list[Diagnostic] = []
    token = _collector.set(found)
    try:
        yield found
    finally:
        _collector.reset(token)


def report(
    severity: Severity,
    where: ir.Operation | ir.Location,
    message: str,
    notes: Sequence[tuple[ir.Operation | ir.Location, str]] = (),
) -> None:
    """Reports a diagnostic to the innermost collector; without one it is dropped.

    An error reported this way does not fail the pass: raise `PassFailure` for that.
    """
    found = _collector.get()
    if found is not None:
        located = tuple((location_of(place), text) for place, text in notes)
        found.append(Diagnostic(severity, location_of(where), message, located))


def location_of(where: ir.Operation | ir.Location) -> ir.Location:
    """Returns the location of an operation, or the location itself."""
    return where if isinstance(where, ir.Location) else where.location


def has_errors() -> bool:
    """Tells whether the innermost collector has received an error."""
    return any(each.severity == "error" for each in _collector.get() or ())
