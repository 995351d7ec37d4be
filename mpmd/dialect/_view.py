"""`Fragment`: one view over `mpmd.fragment` and `mpmd.fragment_call`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import Origin, int_attribute, read_origins
from mpmd.dialect.functions import callee_name, entry_block
from mpmd.dialect.purity import is_pure

if TYPE_CHECKING:
    from mpmd.dialect._bodies import Bodies

REGION, CALL = "mpmd.fragment", "mpmd.fragment_call"
_INHERENT = frozenset(
    ("mesh_name", "origin", "stage_id", "callee", "in_shardings", "out_shardings")
)


class Fragment:
    """A fragment operation of either form; a handle, cheap to make, that caches nothing."""

    __slots__ = ("op",)

    def __init__(self, op: ir.Operation) -> None:
        self.op = op.operation

    @staticmethod
    def of(op: ir.Operation) -> Fragment | None:
        """Returns the view of `op`, or None where it is no fragment."""
        return Fragment(op) if op.operation.name in (REGION, CALL) else None

    @property
    def is_call(self) -> bool:
        """Whether the body is a function."""
        return self.op.name == CALL

    @property
    def mesh(self) -> str:
        """The mesh on which it runs."""
        return ir.StringAttr(self.op.attributes["mesh_name"]).value

    @property
    def origins(self) -> tuple[Origin, ...]:
        """The labels that contributed to it; empty for an inferred fragment."""
        return read_origins(self.op.attributes["origin"])

    @property
    def is_user(self) -> bool:
        """Whether a label of the user's contributed to it."""
        return bool(self.origins)

    @property
    def stage(self) -> int | None:
        """The pipeline stage, where the user assigned one."""
        return int_attribute(self.op, "stage_id")

    @property
    def call_counter(self) -> int | None:
        """The microbatch."""
        return int_attribute(self.op, "call_counter")

    @property
    def transpose_count(self) -> int | None:
        """The transpose count that all origins agree on; None for none or different ones."""
        counts = {origin.transpose_count for origin in self.origins}
        return counts.pop() if len(counts) == 1 else None

    @property
    def operands(self) -> list[ir.Value]:
        """The mesh tensors that it takes."""
        return list(self.op.operands)

    @property
    def results(self) -> list[ir.Value]:
        """The mesh tensors that it makes."""
        return list(self.op.results)

    @property
    def discardable(self) -> dict[str, ir.Attribute]:
        """The attributes that are not part of the operation's definition."""
        return {k: v for k, v in self.op.attributes.items() if k not in _INHERENT}

    def body(self, bodies: Bodies) -> ir.Block:
        """Returns the block that computes the results from local tensors.

        Of a call it is shared with the other calls of the same function: read it, never change it.
        """
        if not self.is_call:
            return self.op.regions[0].blocks[0]
        return entry_block(bodies.function(callee_name(self.op)))

    def is_pure(self, bodies: Bodies) -> bool:
        """Tells whether it can go when its results are unused."""
        if self.is_call:
            return bodies.is_pure_function(callee_name(self.op))
        return is_pure(self.op)

    def __repr__(self) -> str:
        origins = ", ".join(map(str, self.origins)) or "inferred"
        return f"<Fragment {origins} on {self.mesh}>"


def fragments(block: ir.Block) -> Iterator[Fragment]:
    """Yields the fragments of `block` in order; safe against erasure of what was yielded."""
    for op in list(block.operations):
        if op.operation.name in (REGION, CALL):
            yield Fragment(op.operation)
