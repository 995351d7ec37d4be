"""Small edits of the IR that the passes of mesh inference share."""

from __future__ import annotations

from collections.abc import Mapping

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import mesh_tensor_type
from mpmd.passes.import_._mesh_graph import ASSIGN, TRANSFER, UNASSIGN


def assign(
    value: ir.Value,
    mesh: str,
    origin: str | None,
    ip: ir.InsertionPoint,
    loc: ir.Location | None = None,
) -> ir.Value:
    """Creates an `mpmd.assign` of `value`, by default located where the value comes from."""
    attributes = {} if origin is None else {"origin": ir.StringAttr.get(origin)}
    return ir.Operation.create(
        ASSIGN,
        results=[mesh_tensor_type(mesh, value.type)],
        operands=[value],
        attributes=attributes,
        ip=ip,
        loc=loc or value.location,
    ).results[0]


def unassign(value: ir.Value, type_: ir.Type, ip: ir.InsertionPoint, loc: ir.Location) -> ir.Value:
    """Creates an `mpmd.unassign` of `value`."""
    return ir.Operation.create(UNASSIGN, results=[type_], operands=[value], ip=ip, loc=loc).results[
        0
    ]


def transfer(value: ir.Value, type_: ir.Type, ip: ir.InsertionPoint, loc: ir.Location) -> ir.Value:
    """Creates an `mpmd.transfer` of `value`."""
    return ir.Operation.create(TRANSFER, results=[type_], operands=[value], ip=ip, loc=loc).results[
        0
    ]


def producer(value: ir.Value) -> ir.Operation | None:
    """Returns the operation that makes `value`, or None for an argument."""
    owner = value.owner
    return None if isinstance(owner, ir.Block) else owner.operation


def after(op: ir.Operation) -> ir.InsertionPoint:
    """Returns the insertion point right after `op`, which must not be a terminator."""
    return ir.InsertionPoint.after(op)


def replace_operands(op: ir.Operation, values: Mapping[ir.Value, ir.Value]) -> None:
    """Replaces what `op`, with all that it contains, uses of the keys of `values`."""

    def visit(nested: ir.Operation) -> ir.WalkResult:
        for index, value in enumerate(nested.operands):
            replacement = values.get(value)
            if replacement is not None:
                nested.operands[index] = replacement
        return ir.WalkResult.ADVANCE

    op.walk(visit)


def erase_attributes(op: ir.Operation, *names: str) -> None:
    """Removes attributes of `op` that are there."""
    attributes = op.attributes
    for name in names:
        if name in attributes:
            del attributes[name]
