"""What is raised for programs that cannot be lowered."""

from __future__ import annotations

from mpmd.dialect._jaxlib import ir


class LoweringError(ValueError):
    """A program cannot be lowered to IFRT; `where` is what stands in the way."""

    def __init__(self, where: ir.Operation | ir.Location, message: str) -> None:
        super().__init__(message)
        self.where = where
