"""Computes additions of values from several meshes on the mesh that uses the sum."""

from __future__ import annotations

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import read_mesh_tensor, strings_attribute

ADD, ASSIGN, UNASSIGN = "stablehlo.add", "mpmd.assign", "mpmd.unassign"
INFERRED_BY = "introduce_transfers"


def push_into_add(assign: ir.Operation) -> None:
    """Replaces the assign of a sum by the sum of what is assigned, in an inferred fragment.

    Only where every term comes from a mesh or is itself such a sum, and nothing else uses the sum.
    """
    pending = [assign]
    while pending:
        assign = pending.pop()
        add = _sum_behind(assign.operands[0])
        parts = read_mesh_tensor(assign.results[0].type)
        if add is not None and parts is not None and parts.memory_kind is None:
            pending.extend(_move_to_mesh(assign, add, parts.mesh))


def _sum_behind(value: ir.Value) -> ir.Operation | None:
    """Returns the addition that makes `value` for one user, if it can move to any mesh."""
    if not _is_sum_for_one(value):
        return None
    add = value.owner.operation
    if all(_maker(term) == UNASSIGN or _is_sum_for_one(term) for term in add.operands):
        return add
    return None


def _maker(value: ir.Value) -> str | None:
    return value.owner.operation.name if isinstance(value, ir.OpResult) else None


def _is_sum_for_one(value: ir.Value) -> bool:
    return _maker(value) == ADD and sum(1 for _ in value.uses) == 1


def _move_to_mesh(assign: ir.Operation, add: ir.Operation, mesh: str) -> list[ir.Operation]:
    """Wraps `add` into a fragment on `mesh`; returns the assigns of its terms."""
    type_ = assign.results[0].type
    assigns: dict[ir.Value, ir.Operation] = {}
    with ir.InsertionPoint(add), add.location:
        for term in add.operands:
            if term not in assigns:
                assigns[term] = ir.Operation.create(
                    ASSIGN,
                    results=[type_],
                    operands=[term],
                    attributes=dict(assign.attributes.items()),
                )
        fragment = ir.Operation.create(
            "mpmd.fragment",
            results=[type_],
            operands=[each.result for each in assigns.values()],
            attributes={
                "origin": ir.ArrayAttr.get([]),
                "mesh_name": ir.StringAttr.get(mesh),
                "mpmd.inferred_by": strings_attribute([INFERRED_BY]),
            },
            regions=1,
        )
    assign.results[0].replace_all_uses_with(fragment.result)
    assign.erase()
    _fill(fragment, add, list(assigns))
    return list(assigns.values())


def _fill(fragment: ir.Operation, add: ir.Operation, terms: list[ir.Value]) -> None:
    """Moves `add` into the body of `fragment`, whose arguments stand for `terms`."""
    types = [term.type for term in terms]
    block = fragment.regions[0].blocks.append(*types, arg_locs=[add.location] * len(types))
    argument = dict(zip(terms, block.arguments, strict=True))
    for number, term in enumerate(list(add.operands)):
        add.operands[number] = argument[term]
    block.append(add)
    ir.Operation.create(
        "mpmd.return", operands=[add.result], ip=ir.InsertionPoint(block), loc=add.location
    )
