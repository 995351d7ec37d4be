"""The pass `mpmd-absorb-inferred-fragments`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.fragment import REGION, Fragment, erase_dead
from mpmd.dialect.functions import is_entry_point, is_mpmd_function
from mpmd.passes.base import option
from mpmd.passes.common._flow import TRANSFER, Flow, FlowPass, Node
from mpmd.passes.common._merging import (
    INFERRED_BY,
    merge,
    stages_agree,
    union_of_reasons,
    write,
)


@dataclass(frozen=True)
class AbsorbInferredFragments(FlowPass):
    """Merges inferred fragments into the user fragment that is their closest consumer or producer.

    What the compiler had to place itself, such as the sum of two gradients, should run as part of
    the stage that it serves and be scheduled with it. Done until nothing changes:

        %1 = fragment<"m", []> (%0)                      %2 = fragment<"m", ["f"]> (%0) {
        %2 = fragment<"m", ["f"]> (%1)        ~~>          ... the inferred body, then that of f
        return %2                                        }

    A fragment absorbs a producer of which it is the first user, and a consumer of which it is the
    last producer. Transfers do not stand in the way: they move towards their first user, or their
    producer, for that. An inferred fragment that has no fragment on one of its sides absorbs the
    same way. Unused operations go.

    Works on callees of `mpmd.call`, where every microbatch profits from one merge, and on the entry
    point only if told so. Never merges two fragments of the user's.
    """

    name: ClassVar[str] = "mpmd-absorb-inferred-fragments"
    absorb_on_entry_point_function: bool = option(
        False, "Work on the entry point function too, not only on the functions that it calls."
    )

    def applies_to(self, func: ir.Operation) -> bool:
        if not is_mpmd_function(func):
            return False
        return self.absorb_on_entry_point_function or not is_entry_point(func)

    def run_on_flow(self, flow: Flow) -> None:
        while _sweep(flow):
            pass
        write(flow, keep_dead=False)
        for node in flow.nodes:
            if not node.is_replaced() and node.name == REGION:
                erase_dead(Fragment(node.op).body(flow.bodies))


def _sweep(flow: Flow) -> bool:
    """Lets every root absorb what it can, last to first; tells whether any did."""
    changed = False
    first = flow.first()
    pending = [first, *flow.later(first)]
    while pending:
        node = pending.pop()
        if node.erased or node.into is not None:
            continue
        if node.results and node.is_unused() and flow.is_pure(node):
            flow.erase(node)
            changed = True
        elif _is_root(node):
            merged = _absorb_producer(flow, node) or _absorb_consumer(flow, node)
            if merged is not None:
                changed = True
                pending += [merged, *merged.consumers()]
    return changed


def _is_root(node: Node) -> bool:
    """Tells whether a fragment may absorb others."""
    if not node.is_inferred:
        return node.is_fragment
    return not any(user.is_fragment for user in node.consumers()) or not any(
        maker.is_fragment for maker in node.producers()
    )


def _absorb_producer(flow: Flow, root: Node) -> Node | None:
    """Merges into `root` the first inferred fragment that nothing uses before."""
    found = None
    for producer in root.producers():
        if not producer.is_inferred or not stages_agree(producer, root):
            continue
        for transfer in [user for user in producer.consumers() if user.name == TRANSFER]:
            _delay(flow, transfer)
        if found is None and _first(producer.consumers()) is root:
            found = producer
    if found is None:
        return None
    attributes = _attributes(root, found)
    merged = merge(flow, found, root, at_producer=False)
    merged.attributes = attributes
    return merged


def _absorb_consumer(flow: Flow, root: Node) -> Node | None:
    """Merges into `root` an inferred fragment that needs nothing made after it."""
    found = None
    for consumer in reversed(root.consumers()):
        if not consumer.is_inferred or not stages_agree(consumer, root):
            continue
        for transfer in [maker for maker in consumer.producers() if maker.name == TRANSFER]:
            _hasten(flow, transfer)
        if found is None and max(consumer.producers(), key=lambda maker: maker.order) is root:
            found = consumer
    if found is None:
        return None
    attributes = _attributes(root, found)
    merged = merge(flow, root, found, at_producer=True)
    merged.attributes = attributes
    return merged


def _delay(flow: Flow, transfer: Node) -> None:
    """Moves a transfer right before what uses it first."""
    user = _first(transfer.consumers())
    if user is None:
        flow.erase(transfer)
    else:
        flow.move_before(transfer, user)


def _hasten(flow: Flow, transfer: Node) -> None:
    """Moves a transfer right after what it transfers is there."""
    maker = transfer.inputs[0].maker()
    if maker is not None:
        flow.move_after(transfer, maker)
    else:
        flow.move_to_front(transfer)


def _first(nodes: list[Node]) -> Node | None:
    return min(nodes, key=lambda node: node.order, default=None)


def _attributes(root: Node, absorbed: Node) -> dict[str, ir.Attribute]:
    """Returns those of the absorbing fragment, with both reasons where both are inferred."""
    attributes = dict(root.discardable())
    if root.is_inferred and INFERRED_BY in attributes:
        reasons = union_of_reasons(attributes, absorbed.discardable())
        assert reasons is not None
        attributes[INFERRED_BY] = reasons
    return attributes
