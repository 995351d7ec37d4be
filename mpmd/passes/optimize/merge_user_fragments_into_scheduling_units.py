"""Makes one fragment of all that the user has in a stage of a microbatch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.passes.common._flow import Node
from mpmd.passes.common._merging import MergingPass, stages_agree, transpose_count


@dataclass(frozen=True)
class MergeUserFragmentsIntoSchedulingUnits(MergingPass):
    """Merges consecutive fragments of one mesh, stage and microbatch into scheduling units.

    Labels are often finer than pipeline stages. A schedule puts whole stages in order, so that
    what belongs to one microbatch and goes the same way (forward or backward) becomes one fragment
    first, where one is the closest consumer of the other:

        %1 = fragment<"m", ["f"]> (%0) {call_counter = 0}
        %2 = fragment<"m", ["g"]> (%1) {call_counter = 0}
      ~~>
        %1 = fragment<"m", ["f", "g"]> (%0) {call_counter = 0}

    A fragment without a stage or call counter takes those of its neighbour. Never merges inferred
    fragments, nor fragments of different microbatches, stages or transpose counts.
    """

    name: ClassVar[str] = "mpmd-merge-user-fragments-into-scheduling-units"

    def allows(self, producer: Node, consumer: Node, *, is_closest: bool) -> bool:
        if producer.is_inferred or consumer.is_inferred:
            return False
        first, second = producer.call_counter(), consumer.call_counter()
        count = transpose_count(producer)
        return (
            (first is None or second is None or first == second)
            and stages_agree(producer, consumer)
            and count is not None
            and count == transpose_count(consumer)
        )
