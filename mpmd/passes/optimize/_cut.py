"""The cheapest set of values from which others can be computed: a minimum cut."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

V = TypeVar("V", bound=Hashable)

_START, _END = "start", "end"


def cheapest_cut(
    wanted: Iterable[V], operands: Mapping[V, Sequence[V]], costs: Mapping[V, int]
) -> set[V]:
    """Returns the values to keep so that all `wanted` ones can be computed, at the least cost.

    A value in `operands` can be computed from its operands, all others must be kept. Of several
    sets that cost the same it is the one from which the least is computed. `costs` must cover
    every value that is reached.
    """
    capacity = _network(wanted, operands, costs)
    while (path := _path(capacity)) is not None:
        flow = min(capacity[tail][head] for tail, head in path)
        for tail, head in path:
            capacity[tail][head] -= flow
            capacity[head][tail] = capacity[head].get(tail, 0) + flow
    reached = _reached(capacity)
    return {value for value in costs if (value, 0) in reached and (value, 1) not in reached}


# A value is two nodes: (value, 0) where it is needed, (value, 1) where it is made. What flows from
# one to the other pays its cost; no other edge is ever the bottleneck.
_Network = dict[Hashable, dict[Hashable, int]]


def _network(
    wanted: Iterable[V], operands: Mapping[V, Sequence[V]], costs: Mapping[V, int]
) -> _Network:
    unlimited = 1 + sum(costs.values())
    capacity: _Network = {_START: {}, _END: {}}
    todo = list(wanted)
    for value in todo:
        capacity[_START][value, 0] = unlimited
    while todo:
        value = todo.pop()
        if (value, 0) in capacity:
            continue
        capacity[value, 0] = {(value, 1): costs[value]}
        if value in operands:
            capacity[value, 1] = {(operand, 0): unlimited for operand in operands[value]}
            todo += operands[value]
        else:
            capacity[value, 1] = {_END: unlimited}
    return capacity


def _path(capacity: _Network) -> list[tuple[Hashable, Hashable]] | None:
    """Returns the edges of a shortest path with capacity left, or None."""
    came_from = _reached(capacity)
    if _END not in came_from:
        return None
    path = []
    node: Hashable = _END
    while node != _START:
        path.append((came_from[node], node))
        node = came_from[node]
    return path


def _reached(capacity: _Network) -> dict[Hashable, Hashable]:
    """Returns the nodes that can be reached, each with the one that it was reached from."""
    came_from: dict[Hashable, Hashable] = {_START: _START}
    queue: deque[Hashable] = deque([_START])
    while queue:
        node = queue.popleft()
        for head, left in capacity[node].items():
            if left > 0 and head not in came_from:
                came_from[head] = node
                if head == _END:
                    return came_from
                queue.append(head)
    return came_from
