"""A function's data flow in plain Python, on which passes decide before they touch the IR.

Reading a function once costs a few microseconds an operation; each question asked of the bindings
would cost as much again. Merging is noted here only, too: see `_merging.py`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from itertools import pairwise

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.fragment import CALL, Bodies
from mpmd.dialect.functions import callee_name, entry_block, functions, is_mpmd_function
from mpmd.dialect.purity import is_pure
from mpmd.passes.base import Pass, run_on_all
from mpmd.passes.common._flow_nodes import Node, Slot, Value

__all__ = ["FOR", "MPMD_CALL", "TRANSFER", "Flow", "FlowPass", "Node", "Slot", "Value"]

TRANSFER, FOR, MPMD_CALL = "mpmd.transfer", "mpmd.for", "mpmd.call"


class Flow:
    """The operations of a function, or of one block inside it, with the values between them."""

    def __init__(self, func: ir.Operation, bodies: Bodies, block: ir.Block | None = None) -> None:
        self.func = func
        self.bodies = bodies
        self.values: dict[ir.Value, Value] = {}
        block = block or entry_block(func)
        self.arguments = [
            self._define(argument, None, i) for i, argument in enumerate(block.arguments)
        ]
        self.nodes: list[Node] = []
        self._inserted: list[Node] = []
        for position, op in enumerate(list(block.operations)):
            self.nodes.append(self._read(op.operation, position))
        for before, after in pairwise(self.nodes):
            before.following, after.preceding = after, before

    def _define(self, value: ir.Value, node: Node | None, index: int) -> Value:
        made = self.values[value] = Value(value, node, index)
        return made

    def _read(self, op: ir.Operation, position: int) -> Node:
        node = Node(op, float(position))
        known = self.values
        node.inputs = [known.get(value) or self._value(value) for value in op.operands]
        if not node.is_fragment and len(op.regions):
            node.inputs += self._captured(op)
        for value in node.inputs:
            value.users.append(node)
        node.results = [self._define(result, node, i) for i, result in enumerate(op.results)]
        return node

    def _value(self, value: ir.Value) -> Value:
        """Returns what stands for a value that may come from around the block."""
        return self.values.get(value) or self._define(value, None, 0)

    def _captured(self, op: ir.Operation) -> list[Value]:
        """Returns the values of this block that are used inside the regions of `op`."""
        found: list[Value] = []

        def visit(inner: ir.Operation) -> ir.WalkResult:
            if inner != op:
                found.extend(self.values[value] for value in inner.operands if value in self.values)
            return ir.WalkResult.ADVANCE

        op.walk(visit)
        return found

    def is_pure(self, node: Node) -> bool:
        """Tells whether `node` can go when its results are unused."""
        if not node.parts and node.name != CALL:
            return is_pure(node.op)
        return all(
            self.bodies.is_pure_function(callee_name(part.op))
            if part.name == CALL
            else is_pure(part.op)
            for part in node.parts or [node]
        )

    def later(self, node: Node) -> Iterator[Node]:
        """Yields what comes after `node` in the block."""
        following = node.following
        while following is not None:
            yield following
            following = following.following

    def erase(self, node: Node) -> None:
        """Notes that `node` goes."""
        node.erased = True
        self.unlink(node)

    def all_nodes(self) -> list[Node]:
        """Returns every operation ever seen, in an order in which no replaced one uses a later."""
        return [*self._inserted, *self.nodes]

    def insert_before(self, op: ir.Operation, other: Node) -> Node:
        """Takes in a new operation that stands right before another; returns its node."""
        node = self._read(op, 0)
        self._inserted.append(node)
        self.link(other.preceding, node, other)
        return node

    def replace_use(self, old: Value, new: Value, user: Node) -> None:
        """Makes `user`, not merged so far, use another value."""
        for number, value in enumerate(user.inputs):
            if value is old:
                user.inputs[number] = new
                user.op.operands[number] = new.now
                old.users.remove(user)
                new.users.append(user)

    def mark_units(self) -> None:
        """Notes what a schedule orders, and what is after or before: the work of microbatches.

        That is calls, and user fragments with a call counter. A program without microbatches has
        nothing to order, and may merge as it likes.
        """
        for node in self.nodes:
            node.is_unit = node.name == MPMD_CALL or (
                node.is_fragment and bool(node.origins) and node.call_counter() is not None
            )
            node.after_unit = any(
                value.node is not None and (value.node.is_unit or value.node.after_unit)
                for value in node.inputs
            )
        for node in reversed(self.nodes):
            if node.is_unit or node.before_unit:
                for value in node.inputs:
                    if value.node is not None:
                        value.node.before_unit = True

    def move_before(self, node: Node, other: Node) -> None:
        """Moves an operation right before another."""
        if other.preceding is node:
            return
        node.op.move_before(other.anchor)
        self.unlink(node)
        self.link(other.preceding, node, other)

    def move_after(self, node: Node, other: Node) -> None:
        """Moves an operation right after another."""
        if other.following is node:
            return
        node.op.move_after(other.anchor)
        self.unlink(node)
        self.link(other, node, other.following)

    def move_to_front(self, node: Node) -> None:
        """Makes an operation the first of the block."""
        first = self.first()
        if first is not node:
            self.move_before(node, first)

    def first(self) -> Node:
        """Returns the first operation of the block."""
        node = next(node.root() for node in reversed(self.nodes) if not node.erased)
        while node.preceding is not None:
            node = node.preceding
        return node

    def unlink(self, node: Node) -> None:
        """Takes `node` out of the order."""
        if node.preceding is not None:
            node.preceding.following = node.following
        if node.following is not None:
            node.following.preceding = node.preceding
        node.preceding = node.following = None

    def link(self, before: Node | None, node: Node, after: Node | None) -> None:
        """Puts `node` into the order between two neighbours."""
        node.preceding, node.following = before, after
        if before is not None:
            before.following = node
        if after is not None:
            after.preceding = node
        low = before.order if before else (after.order if after else 0.0) - 2
        high = after.order if after else low + 2
        node.order = (low + high) / 2
        if not low < node.order < high:
            self._renumber(node)

    def _renumber(self, node: Node) -> None:
        """Gives whole numbers to all, when halving an interval once more is out of precision."""
        while node.preceding is not None:
            node = node.preceding
        node.order = 0.0
        for position, after in enumerate(self.later(node), start=1):
            after.order = float(position)

    def erase_gone(self) -> None:
        """Erases, last to first, the operations that were erased or that others replaced."""
        for node in reversed(self.all_nodes()):
            if node.is_replaced():
                node.op.erase()

    def release(self) -> None:
        """Breaks the cycles between nodes and values, which else wait for a garbage collection.

        A program has tens of thousands of them, and a collection stops the compiler for as long as
        a pass takes.
        """
        for node in self.all_nodes():
            node.inputs, node.results, node.parts = [], [], []
            node.slots, node.own_slots = [], []
            node.preceding = node.following = node.into = None


class FlowPass(Pass):
    """A pass that works on one block at a time: bodies of `mpmd.for`, then their function."""

    def run(self, module: ir.Operation) -> None:
        bodies = Bodies(module)
        run_on_all(
            lambda func: self._run_on_block(func, bodies, entry_block(func)),
            filter(self.applies_to, functions(module)),
        )
        bodies.erase_unused()

    def _run_on_block(self, func: ir.Operation, bodies: Bodies, block: ir.Block) -> None:
        flow = Flow(func, bodies, block)
        loops = [node.op for node in flow.nodes if node.name == FOR]
        for loop in loops:
            self._run_on_block(func, bodies, loop.regions[0].blocks[0])
        if loops:
            flow.release()
            flow = Flow(func, bodies, block)
        self.run_on_flow(flow)
        flow.release()

    def applies_to(self, func: ir.Operation) -> bool:
        """Tells whether the pass looks at `func`: by default where there are meshes to work on."""
        return is_mpmd_function(func)

    @abstractmethod
    def run_on_flow(self, flow: Flow) -> None:
        """Transforms one block in place."""
