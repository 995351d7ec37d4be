"""Operations that, across meshes, can become an `mpmd.reduce`."""

from __future__ import annotations

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import parse_attribute

_KINDS = {
    "stablehlo.add": "add",
    "stablehlo.maximum": "max",
    "stablehlo.minimum": "min",
    "stablehlo.multiply": "mul",
    "stablehlo.or": "or",
    "stablehlo.and": "and",
}


def reduction_kind(op: ir.Operation) -> str | None:
    """Returns what `op` does to its operands as a reduction, or None where it is none."""
    return _KINDS.get(op.name)


def reduction_attribute(kind: str) -> ir.Attribute:
    """Returns `#mpmd.reduction` of a kind."""
    return parse_attribute(f"#mpmd.reduction<{kind}>")
