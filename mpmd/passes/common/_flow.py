"""A function's data flow in plain Python, on which passes decide before they touch the IR.

Reading a function once costs a few microseconds an operation; each question asked of the bindings
would cost as much again. Merging is noted here only, too: see `_merging.py`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from itertools import pairwise

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import Origin, int_attribute
from mpmd.dialect.fragment import CALL, REGION, Bodies, Fragment
from mpmd.dialect.functions import callee_name, entry_block, functions, is_distributed
from mpmd.dialect.purity import is_pure
from mpmd.passes.base import Pass

TRANSFER, FOR, MPMD_CALL = "mpmd.transfer", "mpmd.for", "mpmd.call"


class Value:
    """An SSA value: what it is now, who makes it, and who used it when the function was read.

    A user is listed once per use, oldest first; `Flow.users` gives those that are left.
    """

    __slots__ = ("index", "node", "now", "users")

    def __init__(self, now: ir.Value, node: Node | None, index: int) -> None:
        self.now = now
        self.node = node
        self.index = index
        self.users: list[Node] = []

    def maker(self) -> Node | None:
        """Returns what makes the value now; None for an argument of the function."""
        return None if self.node is None else self.node.root()

    def uses(self) -> list[Node]:
        """Returns who uses the value now, once per use, oldest first."""
        maker = self.maker()
        roots = (user.root() for user in self.users)
        return [user for user in roots if not user.erased and user is not maker]

    def is_used(self) -> bool:
        """Tells whether anything uses the value now."""
        maker = self.maker()
        for user in self.users:
            root = user.root()
            if not root.erased and root is not maker:
                return True
        return False


class Slot:
    """An operand of a fragment that takes part in merging; equal ones can become one."""

    __slots__ = ("into", "value")

    def __init__(self, value: Value) -> None:
        self.value = value
        self.into: Slot | None = None

    def root(self) -> Slot:
        """Returns the slot that stands for this one."""
        slot = self
        while slot.into is not None:
            slot = slot.into
        return slot


class Node:
    """An operation of the function, or the fragment that several of them merge into."""

    __slots__ = (
        "_mesh",
        "_origins",
        "after_unit",
        "anchor",
        "attributes",
        "before_unit",
        "erased",
        "following",
        "inputs",
        "into",
        "is_fragment",
        "is_unit",
        "name",
        "op",
        "order",
        "own_slots",
        "parts",
        "preceding",
        "results",
        "slots",
        "stage",
    )

    def __init__(self, op: ir.Operation, order: float) -> None:
        self.op = op
        self.name: str = op.name
        self.order = order
        self.anchor = op
        self.results: list[Value] = []
        self.inputs: list[Value] = []
        self.parts: list[Node] = []
        self.slots: list[Slot] = []
        self.own_slots: list[Slot] = []
        self.into: Node | None = None
        self.erased = False
        self.is_unit = self.after_unit = self.before_unit = False
        self.preceding: Node | None = None
        self.following: Node | None = None
        self.is_fragment = self.name in (REGION, CALL)
        self.attributes: dict[str, ir.Attribute] | None = None
        self._origins: tuple[Origin, ...] | None = None
        self._mesh: str | None = None

    @property
    def mesh(self) -> str:
        """The mesh of a fragment."""
        if self._mesh is None:
            self._mesh = Fragment(self.op).mesh
        return self._mesh

    @property
    def origins(self) -> tuple[Origin, ...]:
        """The labels that contributed to a fragment."""
        if self._origins is None:
            self._origins = Fragment(self.op).origins
        return self._origins

    @origins.setter
    def origins(self, origins: tuple[Origin, ...]) -> None:
        self._origins = origins

    def root(self) -> Node:
        """Returns the fragment that this one was merged into, at last."""
        node = self
        while node.into is not None:
            node = node.into
        return node

    @property
    def is_inferred(self) -> bool:
        """Whether it is a fragment that no label of the user's contributed to."""
        return self.is_fragment and not self.origins

    def discardable(self) -> dict[str, ir.Attribute]:
        """Returns the attributes of a fragment that are not part of its definition."""
        if self.attributes is None:
            self.attributes = Fragment(self.op).discardable
        return self.attributes

    def stage_id(self) -> int | None:
        """Returns the pipeline stage of a fragment, where there is one."""
        if not hasattr(self, "stage"):
            self.stage = int_attribute(self.op, "stage_id")
        return self.stage

    def call_counter(self) -> int | None:
        """Returns the microbatch of a fragment, where there is one."""
        attribute = self.discardable().get("call_counter")
        return None if attribute is None else ir.IntegerAttr(attribute).value

    def takes(self) -> list[Value]:
        """Returns the values that it uses, once per use."""
        return [slot.value for slot in self.slots] if self.parts else self.inputs

    def producers(self) -> list[Node]:
        """Returns the operations that make what it uses, each once, in order of the operands."""
        makers = (value.maker() for value in self.takes())
        return list(dict.fromkeys(maker for maker in makers if maker is not None))

    def consumers(self) -> list[Node]:
        """Returns the operations that use a result, once per use."""
        return [user for result in self.results for user in result.uses()]

    def is_unused(self) -> bool:
        """Tells whether nothing uses any result."""
        return not any(result.is_used() for result in self.results)

    def is_replaced(self) -> bool:
        """Tells whether the operation is erased or stands for itself no more."""
        return self.erased or self.into is not None or len(self.parts) > 1

    def open(self) -> None:
        """Gives a fragment the slots that merging works on."""
        if not self.parts:
            self.parts = [self]
            self.own_slots = [Slot(value) for value in self.inputs]
            self.slots = list(self.own_slots)

    def __repr__(self) -> str:
        return f"<{self.name} {self.origins if self.is_fragment else ''} at {self.order}>"


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
        """Notes what a schedule orders, user fragments and calls, and what is after or before."""
        for node in self.nodes:
            node.is_unit = node.name == MPMD_CALL or (node.is_fragment and bool(node.origins))
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


class FlowPass(Pass):
    """A pass that works on one block at a time: bodies of `mpmd.for`, then their function."""

    def run(self, module: ir.Operation) -> None:
        bodies = Bodies(module)
        for func in functions(module):
            if self.applies_to(func):
                self._run_on_block(func, bodies, entry_block(func))
        bodies.erase_unused()

    def _run_on_block(self, func: ir.Operation, bodies: Bodies, block: ir.Block) -> None:
        flow = Flow(func, bodies, block)
        loops = [node.op for node in flow.nodes if node.name == FOR]
        for loop in loops:
            self._run_on_block(func, bodies, loop.regions[0].blocks[0])
        self.run_on_flow(Flow(func, bodies, block) if loops else flow)

    def applies_to(self, func: ir.Operation) -> bool:
        """Tells whether the pass looks at `func`: by default where all values have a mesh."""
        return is_distributed(func)

    @abstractmethod
    def run_on_flow(self, flow: Flow) -> None:
        """Transforms one block in place."""
