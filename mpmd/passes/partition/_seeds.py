"""Whether anything in a program says how to split a value; without that, nothing can propagate."""

from __future__ import annotations

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.fragment import CALL, REGION, Bodies
from mpmd.dialect.functions import callee_name, entry_block
from mpmd.dialect.shardings import SHARDING
from mpmd.passes.partition._flow import Flow


def has_seeds(flow: Flow, bodies: Bodies) -> bool:
    """Tells whether a body of `flow` holds a constraint or a sharding, or calls what might."""
    functions = {callee_name(each.first) for each in flow.variants if each.first.name == CALL}
    regions = [each.first for each in flow.variants if each.first.name == REGION]
    blocks = [entry_block(bodies.function(name)) for name in functions]
    blocks += [op.regions[0].blocks[0] for op in regions]
    return any(map(_has_seed, blocks))


def _has_seed(block: ir.Block) -> bool:
    for op in block.operations:
        operation = op.operation
        name = operation.name
        if name.startswith("sdy.") or name == "func.call" or SHARDING in operation.attributes:
            return True
        for region in operation.regions:
            if any(map(_has_seed, region)):
                return True
    return False
