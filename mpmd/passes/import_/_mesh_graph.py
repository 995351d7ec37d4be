"""A module as mesh inference sees it: numbered values, and each function once.

Inference goes over the same operations several times, to a fixed point over the call graph. The
bindings are slow, so a function is read into plain lists once, and only results are written back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.functions import (
    callee_name,
    entry_block,
    functions,
    is_mpmd_function,
    is_private,
    symbol_name,
)

FOR, CALL, RETURN = "mpmd.for", "mpmd.call", "func.return"
ASSIGN, UNASSIGN, TRANSFER = "mpmd.assign", "mpmd.unassign", "mpmd.transfer"
BROADCAST, REDUCE_OP = "mpmd.broadcast", "mpmd.reduce"
_WITH_SETS = frozenset((ASSIGN, UNASSIGN, BROADCAST, REDUCE_OP))


@dataclass(slots=True, eq=False)
class Node:
    """An operation; values are numbers that are unique in their function.

    `captured` are the values from outside that the regions of the operation use.
    """

    op: ir.Operation
    name: str
    operands: list[int]
    results: list[int]
    captured: list[int] = field(default_factory=list)
    body: Body | None = None

    @property
    def is_meshless(self) -> bool:
        """Whether it is a computation that no mesh was chosen for."""
        return not self.name.startswith(("mpmd.", "func."))

    @property
    def carries_sets(self) -> bool:
        """Whether its use set and source set stand in its own attributes."""
        return self.is_meshless or self.name in _WITH_SETS


@dataclass(slots=True)
class Body:
    """The block of a function or of a loop."""

    block: ir.Block
    arguments: list[int]
    nodes: list[Node]
    returned: list[int]


@dataclass(slots=True, eq=False)
class Function:
    """An MPMD function."""

    op: ir.Operation
    name: str
    is_entry: bool
    body: Body
    values: list[ir.Value]
    callees: list[str]
    callers: list[Function] = field(default_factory=list)

    def nodes(self) -> Iterator[Node]:
        """Yields all operations, those of loop bodies after their loop."""
        return _all_nodes(self.body)


def _all_nodes(body: Body) -> Iterator[Node]:
    for node in body.nodes:
        yield node
        if node.body is not None:
            yield from _all_nodes(node.body)


def read_module(module: ir.Operation) -> dict[str, Function]:
    """Returns the MPMD functions of `module`, callers before callees."""
    found = {
        symbol_name(func): _Reader().function(func)
        for func in functions(module)
        if is_mpmd_function(func)
    }
    for function in found.values():
        for name in function.callees:
            if name in found:
                found[name].callers.append(function)
    return {name: found[name] for name in _callers_first(found)}


def reachable(graph: dict[str, Function]) -> dict[str, None]:
    """Returns the functions that run when the module is used, callers first, as a worklist."""
    found: dict[str, None] = {}
    for name, function in graph.items():
        if function.is_entry or any(caller.name in found for caller in function.callers):
            found[name] = None
    return found


def _callers_first(found: dict[str, Function]) -> list[str]:
    waiting = {name: len(function.callers) for name, function in found.items()}
    ready = [name for name in found if not waiting[name]]
    for name in ready:
        for callee in found[name].callees:
            if callee in waiting:
                waiting[callee] -= 1
                if not waiting[callee]:
                    ready.append(callee)
    # Recursion is not valid MPMD; whatever takes part in it comes last.
    return [*ready, *(name for name in found if waiting[name])]


class _Reader:
    """Numbers the values of one function."""

    def __init__(self) -> None:
        self.numbers: dict[ir.Value, int] = {}
        self.values: list[ir.Value] = []
        self.callees: dict[str, None] = {}

    def function(self, op: ir.Operation) -> Function:
        body = self.body(entry_block(op))
        entry = not is_private(op)
        return Function(op, symbol_name(op), entry, body, self.values, list(self.callees))

    def body(self, block: ir.Block) -> Body:
        arguments = [self.number(argument) for argument in block.arguments]
        nodes = [self.node(view.operation) for view in block.operations]
        last = nodes.pop()
        return Body(block, arguments, nodes, last.operands)

    def number(self, value: ir.Value) -> int:
        found = self.numbers.get(value)
        if found is None:
            found = self.numbers[value] = len(self.values)
            self.values.append(value)
        return found

    def node(self, op: ir.Operation) -> Node:
        name = op.name
        node = Node(op, name, [self.number(value) for value in op.operands], [])
        if name == FOR:
            node.body = self.body(op.regions[0].blocks[0])
        elif node.is_meshless and len(op.regions):
            node.captured = self.captured(op)
        elif name == CALL:
            self.callees[callee_name(op)] = None
        node.results = [self.number(value) for value in op.results]
        return node

    def captured(self, op: ir.Operation) -> list[int]:
        """Returns the values defined outside `op` that its regions use, in the order of use."""
        found: dict[int, None] = {}

        def visit(nested: ir.Operation) -> ir.WalkResult:
            if nested != op:
                for value in nested.operands:
                    number = self.numbers.get(value)
                    if number is not None:
                        found[number] = None
            return ir.WalkResult.ADVANCE

        op.walk(visit)
        return list(found)
