"""Keeps the order that a scheduling pass chose, for merging passes that run later."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import i64, int_attribute
from mpmd.dialect.fragment import fragments
from mpmd.passes.optimize._order import ProgramOrder

_CHAIN, _INDEX = "mpmd.order_chain", "mpmd.order_index"


def record_order(order: ProgramOrder, chains: Iterable[Sequence[Sequence[int]]]) -> None:
    """Marks the operations of each chain with its number and their group in it."""
    for number, groups in enumerate(chains):
        for index, group in enumerate(groups):
            for position in group:
                attributes = order.ops[position].attributes
                attributes[_CHAIN], attributes[_INDEX] = i64(number), i64(index)


def require_recorded(order: ProgramOrder) -> None:
    """Makes `order` keep what was recorded."""
    chains: dict[int, dict[int, list[int]]] = {}
    for position, op in enumerate(order.ops):
        number, index = int_attribute(op, _CHAIN), int_attribute(op, _INDEX)
        if number is not None and index is not None:
            chains.setdefault(number, {}).setdefault(index, []).append(position)
    for groups in chains.values():
        order.add_chain(positions for _, positions in sorted(groups.items()))


def forget_order(block: ir.Block) -> None:
    """Removes what was recorded."""
    for fragment in fragments(block):
        for name in (_CHAIN, _INDEX):
            if name in fragment.op.attributes:
                del fragment.op.attributes[name]
