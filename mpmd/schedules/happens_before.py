"""Orders the tasks of a mesh by a predicate that says of two of them whether one comes first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np

from mpmd.schedules.schedule import BoolArray, IntArray

Item = TypeVar("Item")
Predicate = Callable[[Item, Item], bool]
Chain = list[list[int]]
"""Groups of items, by their indices: all of a group come before all of the next one."""

ALL_PAIRS = 128
"""Up to so many items the predicate is asked about every pair."""

_NEAR = 8


class PredicateError(ValueError):
    """A predicate that contradicts itself."""


def chains(items: Sequence[Item], before: Predicate[Item]) -> list[Chain]:
    """Returns what `before` requires of the order of some items.

    Among few items it may be any relation, and is asked about every pair: what it leaves open
    stays open. A million pairs would take too long: among more items it has to be an order like
    that of keys, where items that tie compare alike with all others. Then it is asked as often as
    sorting needs, and as often again to find out whether it is one.
    """
    if len(items) <= ALL_PAIRS:
        return _from_all_pairs(items, before)
    return [_sorted(items, before)]


def _from_all_pairs(items: Sequence[Item], before: Predicate[Item]) -> list[Chain]:
    asked = range(len(items))
    relation = np.array(
        [[i != j and _ask(before, items[i], items[j]) for j in asked] for i in asked], dtype=bool
    ).reshape(len(items), len(items))
    both = np.argwhere(relation & relation.T)
    if len(both):
        one, two = (items[int(index)] for index in both[0])
        raise PredicateError(f"{one} is to run before {two}, and {two} before {one}")
    chain = _as_chain(relation)
    if chain is not None:
        return [chain]
    return [[[int(one)], [int(two)]] for one, two in np.argwhere(relation)]


def _as_chain(relation: BoolArray) -> Chain | None:
    """Returns the relation as one chain of groups, if it is as simple as that."""
    predecessors: IntArray = relation.sum(axis=0)
    if not np.array_equal(relation, predecessors[:, None] < predecessors[None, :]):
        return None
    return [np.flatnonzero(predecessors == count).tolist() for count in np.unique(predecessors)]


def _sorted(items: Sequence[Item], before: Predicate[Item]) -> Chain:
    @dataclass(frozen=True, slots=True)
    class Key:
        index: int

        def __lt__(self, other: Key) -> bool:
            return _ask(before, items[self.index], items[other.index])

    order = [key.index for key in sorted(map(Key, range(len(items))))]
    chain: Chain = [order[:1]]
    for one, two in pairwise(order):
        if _ask(before, items[one], items[two]):
            chain.append([])
        chain[-1].append(two)
    _verify(items, before, chain)
    return chain


def _verify(items: Sequence[Item], before: Predicate[Item], chain: Chain) -> None:
    """Asks about neighbours near and far, which finds what is no order."""
    placed = [(group, index) for group, members in enumerate(chain) for index in members]
    far = [1 << power for power in range(4, len(placed).bit_length())]
    for distance in [*range(1, _NEAR + 1), *far]:
        for (group, one), (later, two) in zip(placed, placed[distance:], strict=False):
            forth = _ask(before, items[one], items[two])
            back = _ask(before, items[two], items[one])
            if forth != (group < later) or back:
                said = "the second is to run before the first"
                if not back:
                    said = f"the first is {'' if forth else 'not '}to run before the second"
                raise PredicateError(
                    f"it is no order: {items[one]} and {items[two]} "
                    f"{'follow each other' if group < later else 'tie'} by what it says of other "
                    f"tasks, but of these two it says that {said}. Of more than {ALL_PAIRS} tasks "
                    "on a mesh it has to be an order like that of keys"
                )


def _ask(before: Predicate[Item], one: Item, two: Item) -> bool:
    try:
        return bool(before(one, two))
    except Exception as error:
        error.add_note(f"while the pipeline schedule compared {one} with {two}")
        raise
