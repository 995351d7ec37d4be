"""Sums over microbatches: where a program adds up what its microbatch calls return."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.functions import callee_name, entry_block, terminator
from mpmd.dialect.uses import used_values
from mpmd.passes.common._flow import MPMD_CALL, Flow, Node, Value

ADD = "stablehlo.add"


def calls_by_callee(flow: Flow) -> dict[str, list[Node]]:
    """Returns callee -> its calls that have a call counter, in order."""
    calls: dict[str, list[Node]] = {}
    for node in flow.nodes:
        if node.name == MPMD_CALL and "call_counter" in node.op.attributes:
            calls.setdefault(callee_name(node.op), []).append(node)
    return calls


def microbatch(call: Node) -> int:
    """Returns the call counter of a call that has one."""
    return int(ir.IntegerAttr(call.op.attributes["call_counter"]).value)


def accumulators(function: ir.Operation) -> dict[int, int]:
    """Returns argument -> result of a function, where the result adds something to the argument.

    Nothing else may use the argument or the sum.
    """
    found = {}
    for number, value in enumerate(terminator(entry_block(function)).operands):
        add = value.owner
        if isinstance(add, ir.Block) or add.name != ADD or _uses(value) != 1:
            continue
        for operand in add.operands:
            if isinstance(operand.owner, ir.Block) and _uses(operand) == 1:
                found[ir.BlockArgument(operand).arg_number] = number
                break
    return found


def _uses(value: ir.Value) -> int:
    return sum(1 for _ in value.uses)


def independent(flow: Flow, calls: Sequence[Node], links: set[Value]) -> bool:
    """Tells whether no call needs what another computes, save through `links`."""
    members, dependent = set(calls), set[Node]()
    for node in flow.nodes:
        needs = any(value.node in dependent for value in node.inputs if value not in links)
        if needs and node in members:
            return False
        if needs or node in members:
            dependent.add(node)
    return True


@dataclass(frozen=True)
class Sum:
    """Values of the same type that the function adds up."""

    adds: tuple[Node, ...]
    """The additions, of which the last one makes the sum."""
    terms: tuple[Value, ...]

    @property
    def root(self) -> Node:
        """The addition that makes the sum."""
        return self.adds[-1]


def sums(flow: Flow) -> Iterator[Sum]:
    """Yields the sums of more than one element at a time, as large as they can be."""
    for node in flow.nodes:
        if node.name != ADD or _is_partial(node):
            continue
        type_ = ir.RankedTensorType(node.op.results[0].type)
        if any(size != 1 for size in type_.shape):
            adds: list[Node] = []
            terms: list[Value] = []
            _collect(node, adds, terms)
            yield Sum(tuple(reversed(adds)), tuple(terms))


def _is_partial(node: Node) -> bool:
    """Tells whether an addition is a part of a larger one."""
    users = node.results[0].users
    return len(users) == 1 and users[0].name == ADD


def _collect(root: Node, adds: list[Node], terms: list[Value]) -> None:
    """Lists the additions below `root`, outer ones first, and what they add, left to right."""
    pending: list[Value | Node] = [root]
    while pending:
        each = pending.pop()
        if isinstance(each, Node):
            adds.append(each)
            pending += reversed(each.inputs)
        elif each.node is not None and each.node.name == ADD and _is_partial(each.node):
            pending.append(each.node)
        else:
            terms.append(each)


def sort_by_dependencies(block: ir.Block) -> None:
    """Puts operations before those that use them, and otherwise leaves them where they are."""
    ops = [op.operation for op in block.operations]
    places = {op: place for place, op in enumerate(ops)}
    waiting = [0] * len(ops)
    users: list[list[int]] = [[] for _ in ops]
    for place, op in enumerate(ops[:-1]):
        for needed in {places[maker] for maker in _makers(op) if maker in places}:
            users[needed].append(place)
            waiting[place] += 1
    ready = [place for place, count in enumerate(waiting[:-1]) if not count]
    order = []
    while ready:
        place = heapq.heappop(ready)
        order.append(place)
        for user in users[place]:
            waiting[user] -= 1
            if not waiting[user]:
                heapq.heappush(ready, user)
    assert len(order) == len(ops) - 1, "the operations need each other in a circle"
    if order != sorted(order):
        for place in [*order, len(ops) - 1]:
            block.append(ops[place])


def _makers(op: ir.Operation) -> Iterator[ir.Operation]:
    for value in used_values(op):
        owner = value.owner
        if not isinstance(owner, ir.Block):
            yield owner.operation if isinstance(owner, ir.OpView) else owner
