"""The pass `mpmd-merge-inferred-fragments`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.functions import is_entry_point
from mpmd.passes.base import PassFailure, option
from mpmd.passes.common._flow import TRANSFER, Flow, Node
from mpmd.passes.common._merging import SPLIT_DROP, SPLIT_KEEP, MergingPass, stages_agree


@dataclass(frozen=True)
class MergeInferredFragments(MergingPass):
    """Merges inferred fragments with their neighbours in the data flow or in the program order.

    Every fragment costs a launch, and an inferred one belongs to no stage of its own. Two fragments
    of a mesh merge when at least one is inferred and one is the closest consumer of the other:

        %1 = fragment<"m", ["f"]> (%0)                   %1 = fragment<"m", ["f"]> (%0) {
        %2 = fragment<"m", []> (%1)           ~~>           ... body of f, then the inferred one
        return %2                                         }

    Requires a function whose values all live on a mesh. Never merges two fragments of the user's,
    and never makes an operation wait for more than it did where some other user stands in between.
    """

    name: ClassVar[str] = "mpmd-merge-inferred-fragments"
    merge_any_consumer: bool = option(
        False, "Merge with the first consumer that allows it, not only with the closest one."
    )
    merge_sideways: bool = option(
        False,
        "Merge with the next fragment of the mesh in program order, whether it depends or not.",
    )

    keep_schedulable: bool = option(
        False,
        "Do not merge where user fragments or calls would come to wait for one another, as long as "
        "a schedule is still to put them in order.",
    )

    keep_transfers_early: bool = option(
        False,
        "Do not merge where what one fragment sends would come to wait for what another receives.",
    )

    def run(self, module: ir.Operation) -> None:
        if self.merge_any_consumer and self.merge_sideways:
            raise PassFailure(module, "merge-any-consumer and merge-sideways exclude each other")
        super().run(module)

    @property
    def merges_with_any_consumer(self) -> bool:  # type: ignore[override]
        return self.merge_any_consumer

    def allows(self, producer: Node, consumer: Node, *, is_closest: bool) -> bool:
        if not (producer.is_inferred or consumer.is_inferred):
            return False
        if SPLIT_KEEP in producer.discardable() and SPLIT_DROP in consumer.discardable():
            return False
        if _joins_units(producer, consumer):
            return False
        if self.keep_transfers_early and _sends(producer) and _receives(consumer):
            return False
        return stages_agree(producer, consumer)

    def mergeable(self, flow: Flow) -> set[Node] | None:
        """Inferred fragments and, where dependencies count, what makes something for them."""
        inferred = [node for node in flow.nodes if node.is_inferred]
        if self.merge_sideways:
            return None if inferred else set()
        return {*inferred, *(maker for node in inferred for maker in node.producers())}

    def run_on_flow(self, flow: Flow) -> None:
        # In a callee all is of one microbatch, in whose order there is nothing to choose.
        if self.keep_schedulable and is_entry_point(flow.func):
            flow.mark_units()
        super().run_on_flow(flow)

    def candidate(self, flow: Flow, fragment: Node) -> Node | None:
        if not self.merge_sideways:
            return super().candidate(flow, fragment)
        for node in flow.later(fragment):
            if node.is_fragment and node.mesh == fragment.mesh:
                return node if self.allows(fragment, node, is_closest=False) else None
        return None


def _joins_units(first: Node, second: Node) -> bool:
    """Tells whether merging two fragments makes one unit wait for another as it did not before."""
    if first not in second.producers():
        return (_needs(first) and _feeds(second)) or (_needs(second) and _feeds(first))
    if not any(_needs(maker) for maker in second.producers() if maker is not first):
        return False
    return first.is_unit or any(_feeds(user) for user in first.consumers() if user is not second)


def _sends(node: Node) -> bool:
    return any(user.name == TRANSFER for user in node.consumers())


def _receives(node: Node) -> bool:
    return any(maker.name == TRANSFER for maker in node.producers())


def _needs(node: Node) -> bool:
    return node.is_unit or node.after_unit


def _feeds(node: Node) -> bool:
    return node.is_unit or node.before_unit
