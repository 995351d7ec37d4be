"""The pass `mpmd-remat-fragment`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import ui32
from mpmd.passes.base import option
from mpmd.passes.common._flow import Flow, FlowPass, Node
from mpmd.passes.common._merging import (
    CALL_COUNTER,
    SPLIT_DROP,
    SPLIT_KEEP,
    merge,
    transpose_count,
    write,
)

REMAT = "remat"


@dataclass(frozen=True)
class RematFragment(FlowPass):
    """Computes a forward fragment again right before the backward fragment that uses its results.

    What the forward computes for the backward then need not be kept in memory from one to the
    other, only what the forward itself takes, at the cost of computing it twice.

        %1:2 = fragment<"m", ["f"]> (%0)                 %1:2 = fragment<"m", ["f"]> (%0)
        ...                                     ~~>      ...
        %2 = fragment<"m", ["f"(1)]> (%1#1, %g)          %2:2 = fragment<"m", ["f"]> (%0) {remat}
                                                         %3 = fragment<"m", ["f"(1)]> (%2#1, %g)

    Requires fragments with call counters, and both of one microbatch and stage. Does nothing where
    the backward is what the mesh runs next, since nothing would be kept for long. The second half
    of a split backward uses what is computed again for the first.
    """

    name: ClassVar[str] = "mpmd-remat-fragment"
    merge_remat_fragments: bool = option(
        False, "Merge what is computed again with the backward fragment."
    )

    def run_on_flow(self, flow: Flow) -> None:
        run_before = _run_before(flow)
        for forward in [node for node in flow.nodes if node.is_fragment]:
            for backward, *late_halves in _backwards(forward):
                if run_before[backward] is forward:
                    continue
                again = run_before[backward] = _compute_again(flow, forward, backward)
                for half in late_halves:
                    _use(flow, again, forward, half)
                if self.merge_remat_fragments:
                    _merge(flow, again, backward)
        write(flow)


def _backwards(forward: Node) -> list[list[Node]]:
    """Returns the backwards of a forward, last to first, the halves of a split one together."""
    found = [node for node in dict.fromkeys(forward.consumers()) if _belong_together(forward, node)]
    early = [node for node in found if SPLIT_KEEP in node.discardable()]
    late = [node for node in found if SPLIT_DROP in node.discardable()] if early else []
    return [
        [node, *late] if node in early else [node] for node in reversed(found) if node not in late
    ]


def _merge(flow: Flow, again: Node, backward: Node) -> None:
    counter = backward.call_counter()
    assert counter is not None
    merged = merge(flow, again, backward, at_producer=False)
    merged.attributes = {CALL_COUNTER: ui32(counter), REMAT: ir.UnitAttr.get()}


def _belong_together(forward: Node, backward: Node) -> bool:
    """Tells whether these are the forward and the backward of one microbatch and stage."""
    if not backward.is_fragment:
        return False
    counter = forward.call_counter()
    return (
        transpose_count(forward) == 0
        and transpose_count(backward) == 1
        and counter is not None
        and counter == backward.call_counter()
        and forward.stage_id() == backward.stage_id()
    )


def _run_before(flow: Flow) -> dict[Node, Node]:
    """Returns fragment -> what its mesh runs right before it."""
    last: dict[str, Node] = {}
    before: dict[Node, Node] = {}
    for node in flow.nodes:
        if node.is_fragment:
            if node.mesh in last:
                before[node] = last[node.mesh]
            last[node.mesh] = node
    return before


def _compute_again(flow: Flow, forward: Node, backward: Node) -> Node:
    """Puts a copy of `forward` right before `backward`, which uses it from now on."""
    copy = forward.op.clone(ip=ir.InsertionPoint(backward.anchor)).operation
    copy.attributes[REMAT] = ir.UnitAttr.get()
    again = flow.insert_before(copy, backward)
    _use(flow, again, forward, backward)
    return again


def _use(flow: Flow, again: Node, forward: Node, backward: Node) -> None:
    for result, new in zip(forward.results, again.results, strict=True):
        flow.replace_use(result, new, backward)
