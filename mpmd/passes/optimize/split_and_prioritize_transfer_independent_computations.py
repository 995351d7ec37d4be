"""The pass `mpmd-split-and-prioritize-transfer-independent-computations`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import mesh_tensor_type
from mpmd.dialect.fragment import CALL, Bodies, Fragment, edit, prune
from mpmd.dialect.functions import callee_name
from mpmd.passes.common._flow import TRANSFER, Flow, FlowPass, Node
from mpmd.passes.optimize._independence import (
    Split,
    return_shared,
    split_of,
    take_shared,
    values_at,
)


@dataclass(frozen=True)
class SplitAndPrioritizeTransferIndependentComputations(FlowPass):
    """Splits off what a fragment can compute before its transfers arrive, to run it first.

    A mesh that waits for a transfer can do in the meantime what does not depend on it. The part
    that needs no transfer comes right before the part that does, and hands it what they share:

        %1 = transfer %0 : (m0) -> m1                    %1 = transfer %0 : (m0) -> m1
        %2 = fragment<"m1", ["f"]> (%w, %1) {            %2 = fragment<"m1", ["f"]> (%w) {
          %a = dot %w, %w                       ~~>        return dot %w, %w }
          return add %a, %x }                            %3 = fragment<"m1", ["f"]> (%1, %2) {
                                                           return add %a, %x }

    Leaves alone fragments without a transferred operand, those whose independent part would compute
    from constants only, and those with an effect. Constants are made in both parts.
    """

    name: ClassVar[str] = "mpmd-split-and-prioritize-transfer-independent-computations"

    def run_on_flow(self, flow: Flow) -> None:
        for node in flow.nodes:
            if not node.is_fragment or not flow.is_pure(node):
                continue
            transferred = tuple(
                number
                for number, value in enumerate(node.inputs)
                if value.node is not None and value.node.name == TRANSFER
            )
            split = _split(flow.bodies, node, transferred) if transferred else None
            if split is not None:
                _apply(flow.bodies, Fragment(node.op), split)


def _split(bodies: Bodies, node: Node, transferred: tuple[int, ...]) -> Split | None:
    """Returns how to split a fragment; asks once per function and transferred operands."""
    fragment = Fragment(node.op)
    if node.name != CALL:
        return split_of(fragment.body(bodies), transferred)
    key = ("split", callee_name(node.op), transferred)
    found = bodies.recall(key)
    if found is None:
        found = (split_of(fragment.body(bodies), transferred),)
        bodies.remember(key, found)
    split: Split | None = found[0]
    return split


def _apply(bodies: Bodies, whole: Fragment, split: Split) -> None:
    """Replaces a fragment by its independent part and, right after it, the dependent one."""
    count = len(whole.results)
    types = [
        mesh_tensor_type(whole.mesh, value.type)
        for value in values_at(whole.body(bodies), split.shared)
    ]
    early = edit(
        bodies,
        Fragment(whole.op.clone(ip=ir.InsertionPoint(whole.op)).operation),
        lambda block: return_shared(block, split.shared),
        ("return", split.shared),
        results=types,
    )
    late = edit(
        bodies,
        whole,
        lambda block: take_shared(block, split.shared),
        ("take", split.shared),
        operands=early.results[count:],
    )
    for number in split.early_results:
        late.results[number].replace_all_uses_with(early.results[number])
    is_early = [number in split.early_results for number in range(count)]
    _prune(bodies, early, [*is_early, *[True] * len(types)])
    _prune(bodies, late, [not each for each in is_early])


def _prune(bodies: Bodies, fragment: Fragment, keep: list[bool]) -> None:
    pruned = prune(bodies, fragment, keep, ir.InsertionPoint(fragment.op))
    if pruned is None:
        return
    kept = [result for result, wanted in zip(fragment.results, keep, strict=True) if wanted]
    for result, value in zip(kept, pruned[0].results, strict=True):
        result.replace_all_uses_with(value)
    fragment.op.erase()
