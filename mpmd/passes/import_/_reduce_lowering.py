"""What an `mpmd.reduce` is made of: fragments and transfers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import (
    mesh_of,
    mesh_tensor_type,
    origins_attribute,
    strings_attribute,
)
from mpmd.passes.import_._reductions import operation_of

Transfer = Callable[[ir.Value, ir.Type, ir.InsertionPoint, ir.Location], ir.Value]


def lower_reduce(
    op: ir.Operation, values: Sequence[ir.Value], meshes: Sequence[str], transfer: Transfer
) -> dict[ir.Type, ir.Value]:
    """Computes the reduction of `values`, mesh tensors, on each of `meshes`.

    What is on one mesh is combined there first, so that a mesh sends one value to each other.
    Returns the results by type.
    """
    ip, loc, local = ir.InsertionPoint(op), op.location, op.results[0].type
    groups: dict[str, list[ir.Value]] = {}
    for value in values:
        groups.setdefault(mesh_of(value) or "", []).append(value)
    partial = [
        group[0] if len(group) == 1 else _combine(op, mesh, group, ip)
        for mesh, group in sorted(groups.items())
    ]
    results = {}
    for mesh in meshes:
        type_ = mesh_tensor_type(mesh, local)
        arrived = [
            value if mesh_of(value) == mesh else transfer(value, type_, ip, loc)
            for value in partial
        ]
        results[type_] = _combine(op, mesh, arrived, ip)
    return results


def _combine(
    reduce: ir.Operation, mesh: str, values: Sequence[ir.Value], ip: ir.InsertionPoint
) -> ir.Value:
    """Creates the inferred fragment that reduces `values`, which are all on `mesh`."""
    loc, local = reduce.location, reduce.results[0].type
    fragment = ir.Operation.create(
        "mpmd.fragment",
        results=[mesh_tensor_type(mesh, local)],
        operands=list(values),
        attributes={
            "mesh_name": ir.StringAttr.get(mesh),
            "origin": origins_attribute([]),
            "mpmd.inferred_by": strings_attribute(["infer_mesh_convert_reduce_ops"]),
        },
        regions=1,
        ip=ip,
        loc=loc,
    )
    block = fragment.regions[0].blocks.append(
        *[local for _ in values], arg_locs=[loc] * len(values)
    )
    inside = ir.InsertionPoint(block)
    result, *others = block.arguments
    for value in others:
        result = ir.Operation.create(
            operation_of(reduce), results=[local], operands=[result, value], ip=inside, loc=loc
        ).results[0]
    ir.Operation.create("mpmd.return", operands=[result], ip=inside, loc=loc)
    return fragment.results[0]
