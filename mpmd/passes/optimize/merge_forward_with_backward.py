"""Makes one fragment of a forward computation and the backward that follows at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.passes.common._flow import Flow, Node
from mpmd.passes.common._merging import MergingPass, stages_agree, transpose_count
from mpmd.passes.optimize._scheduling_units import BACKWARD, FORWARD


@dataclass(frozen=True)
class MergeForwardWithBackward(MergingPass):
    """Merges a forward fragment with its backward where the mesh does nothing in between.

    In the last stage of a pipeline the backward of a microbatch can start when its forward ends.
    As one computation they cost one launch and hold no activations in between, so that nothing
    has to leave the fused kernels:

        %1:2 = fragment<"m", ["f"]> (%0)
        %2 = fragment<"m", ["f"(1)]> (%1#0, %1#1)
      ~~>
        %1 = fragment<"m", ["f", "f"(1)]> (%0)

    Run after scheduling. Never merges fragments of different microbatches or stages, nor across
    another fragment of the mesh, nor a backward that does not use the forward.
    """

    name: ClassVar[str] = "mpmd-merge-forward-with-backward"

    def candidate(self, flow: Flow, fragment: Node) -> Node | None:
        for node in flow.later(fragment):
            if node.is_fragment and node.mesh == fragment.mesh:
                used = node in fragment.consumers()
                return node if used and self.allows(fragment, node, is_closest=True) else None
        return None

    def allows(self, producer: Node, consumer: Node, *, is_closest: bool) -> bool:
        first, second = producer.call_counter(), consumer.call_counter()
        return (
            transpose_count(producer) == FORWARD
            and transpose_count(consumer) == BACKWARD
            and (first is None or second is None or first == second)
            and stages_agree(producer, consumer)
        )
