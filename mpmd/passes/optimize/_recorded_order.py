"""Keeps the order that a scheduling pass chose, for merging passes that run later.

An order is a list of chains, each a list of groups of operations. Every operation carries where it
is, as pairs of a chain's number and the number of a group in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.fragment import fragments
from mpmd.passes.optimize._order import ProgramOrder

ORDER = "mpmd.order"


def places_of(op: ir.Operation) -> list[int]:
    """Returns the recorded places of an operation: chain, group, chain, group, ..."""
    return list(ir.DenseI64ArrayAttr(op.attributes[ORDER])) if ORDER in op.attributes else []


def places_attribute(places: Sequence[int]) -> ir.Attribute:
    """Returns the attribute that records these places."""
    return ir.DenseI64ArrayAttr.get(list(places))


def record_order(order: ProgramOrder, chains: Iterable[Sequence[Sequence[int]]]) -> None:
    """Records chains of groups of positions, besides what is recorded already."""
    first = 1 + max((n for op in order.ops for n in places_of(op)[::2]), default=-1)
    for number, groups in enumerate(chains, start=first):
        for index, group in enumerate(groups):
            for position in group:
                op = order.ops[position]
                op.attributes[ORDER] = places_attribute([*places_of(op), number, index])


def require_recorded(order: ProgramOrder) -> None:
    """Makes `order` keep what was recorded."""
    chains: dict[int, dict[int, list[int]]] = {}
    for position, op in enumerate(order.ops):
        places = places_of(op)
        for number, index in zip(places[::2], places[1::2], strict=True):
            chains.setdefault(number, {}).setdefault(index, []).append(position)
    for groups in chains.values():
        order.add_chain(positions for _, positions in sorted(groups.items()))


def forget_order(block: ir.Block) -> None:
    """Removes what was recorded."""
    for fragment in fragments(block):
        if ORDER in fragment.op.attributes:
            del fragment.op.attributes[ORDER]
