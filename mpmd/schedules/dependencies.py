"""The data dependencies of a pipeline's tasks, as array arithmetic on task codes.

Stages form a chain, and one dependency per task is enough, because the rest follow from it:

* F waits for the F of the stage before;
* B and Bi wait for the B or Bi of the stage after, and in the last stage for its own F;
* Bw waits for the Bi of its own stage.

What a task waits for is a *slot*, not a task: whether the stage after does B or Bi, it fills the
same gradient slot.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mpmd.schedules.schedule import NUM_KINDS, IntArray, Schedule
from mpmd.schedules.task import Kind


@dataclass(frozen=True)
class Slots:
    """For each position of `schedule.codes`, the slot it waits for and the slot it fills.

    Slots of forward results come first, then those of gradients; `source` is always full, and
    `sink` is filled by tasks that nothing waits for.
    """

    needs: IntArray
    fills: IntArray
    source: int
    sink: int

    @property
    def count(self) -> int:
        return self.sink + 1


def slots(schedule: Schedule) -> Slots:
    """Computes what every task of the schedule waits for and what it provides."""
    num_microbatches, num_stages = schedule.num_microbatches, schedule.num_stages
    gradients = num_stages * num_microbatches
    source, sink = 2 * gradients, 2 * gradients + 1
    needs, fills = np.empty_like(schedule.codes), np.empty_like(schedule.codes)
    for mesh in range(schedule.num_meshes):  # in parts, as the arrays in between are large
        part = slice(schedule.offsets[mesh], schedule.offsets[mesh + 1])
        stage_and_kind, microbatch = np.divmod(schedule.codes[part], num_microbatches)
        stage, kind = np.divmod(stage_and_kind, NUM_KINDS)
        own = stage * num_microbatches + microbatch
        gradient = own + gradients
        is_forward, is_weight = kind == Kind.F, kind == Kind.Bw
        forward_needs = np.where(stage == 0, source, own - num_microbatches)
        backward_needs = np.where(stage == num_stages - 1, own, gradient + num_microbatches)
        gradient_needs = np.where(is_weight, gradient, backward_needs)  # Bw: of its own stage
        needs[part] = np.where(is_forward, forward_needs, gradient_needs)
        fills[part] = np.where(is_forward, own, np.where(is_weight, sink, gradient))
    return Slots(needs, fills, source, sink)


def crosses_meshes(schedule: Schedule) -> NDArray[np.bool_]:
    """Says for each position whether its dependency comes from another mesh."""
    stage, kind, microbatch = schedule.stages(), schedule.kinds(), schedule.microbatches()
    origin = producer_stage(schedule, stage, kind)
    return schedule.placement[stage, microbatch] != schedule.placement[origin, microbatch]


def producer_stage(schedule: Schedule, stage: IntArray, kind: IntArray) -> IntArray:
    """Returns the stage that each task's dependency is computed in."""
    forward = np.maximum(stage - 1, 0)
    backward = np.minimum(stage + 1, schedule.num_stages - 1)
    return np.where(kind == Kind.F, forward, np.where(kind == Kind.Bw, stage, backward))
