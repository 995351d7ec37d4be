"""What counts as an operation that is cheaper to repeat than to transfer."""

from __future__ import annotations

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.purity import is_pure


def is_negligible(op: ir.Operation) -> bool:
    """Tells whether `op` makes one value from nothing: a constant, an iota, and the like."""
    operation = op.operation
    return (
        len(operation.operands) == 0
        and len(operation.results) == 1
        and len(operation.regions) == 0
        and is_pure(operation)
    )
