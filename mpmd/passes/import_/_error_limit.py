"""Passes that report several errors before they fail."""

from __future__ import annotations

from typing import Any

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.diagnostics import report
from mpmd.passes.base import PassFailure, option


def _parse(text: str) -> int:
    try:
        limit = int(text)
    except ValueError:
        limit = 0
    if limit == 0:
        raise ValueError(f"'{text}' is neither a number of errors nor -1, for all of them")
    return limit


def error_limit() -> Any:
    """Declares the option `error-limit`."""
    return option(5, "How many errors to report, -1 for all of them.", parse=_parse)


class Errors:
    """Errors that were found so far."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.found: list[tuple[ir.Operation | ir.Location, str]] = []

    @property
    def is_full(self) -> bool:
        """Whether there is no point in looking for more."""
        return 0 <= self.limit <= len(self.found)

    def has(self, op: ir.Operation) -> bool:
        """Tells whether there is an error at `op`."""
        return any(where == op for where, _ in self.found)

    def add(self, where: ir.Operation | ir.Location, message: str) -> None:
        """Adds an error, unless there are enough."""
        if not self.is_full:
            self.found.append((where, message))

    def raise_any(self) -> None:
        """Fails with the errors that were added, if any."""
        if self.found:
            for where, message in self.found[:-1]:
                report("error", where, message)
            raise PassFailure(*self.found[-1])
