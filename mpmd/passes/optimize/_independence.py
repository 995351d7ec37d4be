"""Which part of a fragment's body does not depend on some of its arguments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.fragment import set_returned
from mpmd.dialect.functions import terminator
from mpmd.dialect.uses import used_values

Place = tuple[int, int]
"""A value of a body, the same in every copy of it: (operation number, result number)."""


@dataclass(frozen=True)
class Split:
    """How a body falls into an early part and the rest."""

    early_results: tuple[int, ...]
    """The returned values that the early part computes."""
    shared: tuple[Place, ...]
    """The values that the early part computes and the late one needs."""


def split_of(block: ir.Block, late_arguments: Iterable[int]) -> Split | None:
    """Returns the split of a body where some arguments are late.

    None where all or nothing is early. What depends on no argument at all belongs to neither part:
    both compute it.
    """
    late = {block.arguments[number] for number in late_arguments}
    early: dict[ir.Value, Place | None] = {
        argument: None for argument in block.arguments if argument not in late
    }
    arguments = set(early)
    shared: dict[Place, None] = {}
    for number, op in enumerate(list(block.operations)[:-1]):
        used = used_values(op.operation)
        if any(value in late for value in used):
            late.update(op.operation.results)
            shared.update(_places(early, used))
        elif any(value in early for value in used):
            early.update({value: (number, i) for i, value in enumerate(op.operation.results)})
    returned = list(terminator(block).operands)
    results = tuple(
        number for number, value in enumerate(returned) if value in early and value not in arguments
    )
    if len(results) == len(returned) or not (results or shared):
        return None
    return Split(results, tuple(shared))


def _places(early: dict[ir.Value, Place | None], used: Sequence[ir.Value]) -> dict[Place, None]:
    places = (early.get(value) for value in used)
    return {place: None for place in places if place is not None}


def values_at(block: ir.Block, places: Sequence[Place]) -> list[ir.Value]:
    """Returns the values at `places` of a body."""
    operations = list(block.operations)
    return [operations[number].operation.results[i] for number, i in places]


def return_shared(block: ir.Block, places: Sequence[Place]) -> None:
    """Makes a body return the values at `places` too."""
    set_returned(block, [*terminator(block).operands, *values_at(block, places)])


def take_shared(block: ir.Block, places: Sequence[Place]) -> None:
    """Makes a body take the values at `places` as arguments instead of computing them."""
    for value in values_at(block, places):
        argument = block.add_argument(value.type, value.location)
        value.replace_all_uses_with(argument)
