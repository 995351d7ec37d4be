"""Finds labels wherever they stand."""

from __future__ import annotations

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import read_origin

COMPUTATION, TENSOR = "mpmd.named_computation", "mpmd.named_tensor"


def labels(func: ir.Operation) -> list[ir.Operation]:
    """Returns all labels of `func`, at every depth, an outer one before those in it."""
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name in (COMPUTATION, TENSOR):
            found.append(op.operation)
        return ir.WalkResult.ADVANCE

    func.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def label_name(label: ir.Operation) -> str:
    """Returns the user's name of a label."""
    if label.name == TENSOR:
        return ir.StringAttr(label.attributes["name"]).value
    return read_origin(label.attributes["origin"]).name


def enclosing_computation(op: ir.Operation) -> ir.Operation | None:
    """Returns the innermost named computation around `op`, or None where there is none."""
    parent = op.parent
    while parent is not None and parent.operation.name != "func.func":
        if parent.operation.name == COMPUTATION:
            return parent.operation
        parent = parent.operation.parent
    return None
