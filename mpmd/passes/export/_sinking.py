"""Moves an operation of a block down to where its results are first used."""

from __future__ import annotations

from mpmd.dialect._jaxlib import ir


def sink_to_first_user(op: ir.Operation) -> None:
    """Moves `op` right before the first operation that uses a result; without users it stays."""
    first: ir.Operation | None = None
    for result in op.results:
        for use in result.uses:
            user = use.owner.operation
            if first is None or user.is_before_in_block(first):
                first = user
    if first is not None:
        op.move_before(first)
