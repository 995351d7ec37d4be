"""Makes one fragment of all that the user has in a stage of a microbatch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.fragment import Fragment, is_used
from mpmd.dialect.functions import entry_block
from mpmd.passes.common._flow import FOR, Node
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

    def applies_to(self, func: ir.Operation) -> bool:
        """Tells whether anything in `func` can merge, before all of it is read."""
        return super().applies_to(func) and _has_work(entry_block(func))

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


def _has_work(block: ir.Block) -> bool:
    """Tells whether two fragments may be of one unit, or one is unused; loops may hold any."""
    units = set()
    for op in block.operations:
        fragment = Fragment.of(op)
        if fragment is None:
            if op.operation.name == FOR:
                return True
            continue
        if not any(map(is_used, fragment.op.results)):
            return True
        if not fragment.is_user:
            continue
        unit = (fragment.mesh, fragment.transpose_count, fragment.call_counter)
        if unit[-1] is None or unit in units:
            return True
        units.add(unit)
    return False
