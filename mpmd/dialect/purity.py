"""Which operations have no effect but their results, so that unused ones can go."""

from __future__ import annotations

from mpmd.dialect._jaxlib import ir

_EFFECTS = frozenset(
    "stablehlo." + name
    for name in ("send", "recv", "infeed", "outfeed", "create_token", "after_all", "rng")
) | {"func.call", "mpmd.call", "sdy.sharding_constraint", "sdy.sharding_group"}
_PURE_DIALECTS = ("stablehlo.", "chlo.", "mpmd.", "sdy.", "arith.", "mhlo.", "tensor.")
_TERMINATORS = frozenset(
    ("mpmd.return", "func.return", "stablehlo.return", "sdy.return", "mhlo.return")
)


def is_pure(op: ir.Operation) -> bool:
    """Tells whether `op`, with all that it contains, can go when its results are unused.

    Unknown operations and calls of functions count as having effects. So do constraints on
    shardings: one whose result is unused is about its operand.
    """
    name = op.name
    if name in _TERMINATORS or name in _EFFECTS or not name.startswith(_PURE_DIALECTS):
        return False
    if name == "stablehlo.custom_call":
        attributes = op.attributes
        return not (
            "has_side_effect" in attributes and ir.BoolAttr(attributes["has_side_effect"]).value
        )
    return all(
        child.operation.name in _TERMINATORS or is_pure(child.operation)
        for region in op.regions
        for block in region.blocks
        for child in block.operations
    )
