"""What is raised for programs that cannot be lowered."""

from __future__ import annotations

from mpmd.dialect._jaxlib import ir


class LoweringError(ValueError):
    """A program cannot be lowered to IFRT; `op` is the operation that stands in the way."""

    def __init__(self, op: ir.Operation, message: str) -> None:
        super().__init__(message)
        self.op = op
