"""Scheduling units: the fragments that a pipeline schedule puts in order.

A unit is a fragment of one microbatch made of user computations that are all forward or all
backward. Everything else, inferred fragments in particular, is left where its data put it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.fragment import Fragment
from mpmd.dialect.functions import topology_of
from mpmd.schedules.task import Kind

KEEPS_TRANSFERRED = "split_keep_transferred"
DROPS_TRANSFERRED = "split_drop_transferred"
FORWARD, BACKWARD = 0, 1  # transpose counts


@dataclass(frozen=True)
class Unit:
    """A scheduling unit and where it stands in the program."""

    fragment: Fragment
    position: int
    mesh: str
    stage: int | None
    kind: Kind
    microbatch: int

    @property
    def is_forward(self) -> bool:
        """Whether it is a forward computation."""
        return self.kind is Kind.F


def scheduling_units(ops: list[ir.Operation]) -> Iterator[Unit]:
    """Yields the scheduling units among the operations of a block."""
    for position, op in enumerate(ops):
        fragment = Fragment.of(op)
        if fragment is None:
            continue
        transpose_count, microbatch = fragment.transpose_count, fragment.call_counter
        if transpose_count not in (FORWARD, BACKWARD) or microbatch is None:
            continue
        kind = Kind.F if transpose_count == FORWARD else _backward_kind(op)
        yield Unit(fragment, position, fragment.mesh, fragment.stage, kind, microbatch)


def _backward_kind(op: ir.Operation) -> Kind:
    if KEEPS_TRANSFERRED in op.attributes:
        return Kind.Bi
    if DROPS_TRANSFERRED in op.attributes:
        return Kind.Bw
    return Kind.B


def schedulable_meshes(func: ir.Operation) -> list[str]:
    """Returns the meshes of a function, in the order of the topology, but those of host CPUs."""
    return [name for name in topology_of(func) if not name.endswith("/cpu")]
