"""mpmd-populate-unreduced-out-sharding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir, sdy
from mpmd.dialect.fragment import Bodies, Fragment, fragments
from mpmd.dialect.functions import callee_name, entry_block, functions, is_mpmd_function, terminator
from mpmd.dialect.shardings import (
    OUT,
    mesh_symbol,
    rank_of,
    read_shardings,
    unreduced_axes,
    unsplit_sharding,
    write_shardings,
)
from mpmd.passes.base import Pass


@dataclass(frozen=True)
class PopulateUnreducedOutSharding(Pass):
    """Marks results of fragments as partial sums where a constraint in the body says so.

    Propagation does not carry unreduced axes out of a fragment, yet whoever takes such a result
    must know that it still has to be summed:

        out_shardings=[<@mesh, [{}]>] ... { %1 = sdy.sharding_constraint %0 <@mesh, [{}],
                                            unreduced={"x"}>; mpmd.return %1 }
        ~~> out_shardings=[<@mesh, [{}], unreduced={"x"}>]

    Looks only at returned values that a constraint makes.
    """

    name: ClassVar[str] = "mpmd-populate-unreduced-out-sharding"

    def run(self, module: ir.Operation) -> None:
        bodies = Bodies(module)
        found: dict[str, list[ir.Attribute | None]] = {}
        for func in functions(module):
            if not is_mpmd_function(func):
                continue
            for fragment in fragments(entry_block(func)):
                constraints = _constraints(fragment, bodies, found)
                if any(constraint is not None for constraint in constraints):
                    _populate(fragment, constraints)


def _constraints(
    fragment: Fragment, bodies: Bodies, found: dict[str, list[ir.Attribute | None]]
) -> list[ir.Attribute | None]:
    """Returns, per result, the constraint on it that names unreduced axes; once per function."""
    if not fragment.is_call:
        return _constraints_in(fragment.body(bodies))
    callee = callee_name(fragment.op)
    if callee not in found:
        found[callee] = _constraints_in(fragment.body(bodies))
    return found[callee]


def _constraints_in(body: ir.Block) -> list[ir.Attribute | None]:
    return [_constraint_on(value) for value in terminator(body).operands]


def _constraint_on(value: ir.Value) -> ir.Attribute | None:
    if not isinstance(value.owner, ir.Operation | ir.OpView):
        return None
    op = value.owner.operation
    if op.name != "sdy.sharding_constraint":
        return None
    sharding = op.attributes["sharding"]
    return sharding if unreduced_axes(sharding) else None


def _populate(fragment: Fragment, constraints: list[ir.Attribute | None]) -> None:
    shardings = read_shardings(fragment.op, OUT)
    if shardings is None:
        mesh = next(mesh_symbol(each) for each in constraints if each is not None)
        shardings = [unsplit_sharding(mesh, rank_of(value)) for value in fragment.results]
    for index, constraint in enumerate(constraints):
        if constraint is not None:
            shardings[index] = _with_unreduced(shardings[index], constraint)
    write_shardings(fragment.op, OUT, shardings)


def _with_unreduced(sharding: ir.Attribute, constraint: ir.Attribute) -> ir.Attribute:
    parts = sdy.TensorShardingAttr(sharding)
    return sdy.TensorShardingAttr.get(
        parts.mesh_or_ref,
        parts.dimension_shardings,
        parts.replicated_axes,
        sdy.TensorShardingAttr(constraint).unreduced_axes,
    )
