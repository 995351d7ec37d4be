"""The parts of a data flow: values, operations, and operands of fragments that merge."""

from __future__ import annotations

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import Origin, int_attribute
from mpmd.dialect.fragment import CALL, REGION, Fragment


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
