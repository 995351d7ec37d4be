"""What an operation uses."""

from __future__ import annotations

from mpmd.dialect._jaxlib import ir


def used_values(op: ir.Operation) -> list[ir.Value]:
    """Returns what `op` and the operations in its regions use, in order."""
    used = list(op.operands)
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                used += used_values(inner.operation)
    return used
