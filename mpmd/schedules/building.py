"""What the generators of schedules share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mpmd.schedules.schedule import IntArray, Schedule, encode
from mpmd.schedules.task import Kind


class Line:
    """The tasks of one mesh, put in order by keys.

    A generator gives every task an integer key, such as "right after forward i + 3", instead of
    listing warm-up, steady state and cool-down: the phases, and what becomes of them with few
    microbatches, follow from the keys.
    """

    def __init__(self, num_microbatches: int) -> None:
        self._num_microbatches = num_microbatches
        self._codes: list[IntArray] = []
        self._keys: list[IntArray] = []

    def add(self, stage: int | IntArray, kind: Kind, microbatch: IntArray, key: IntArray) -> None:
        """Adds tasks with their keys, leaving out microbatches that do not exist.

        Families that work in groups of microbatches fill the last group up and rely on this:
        a schedule that can run still can when all tasks of some microbatches are left out.
        """
        real = microbatch < self._num_microbatches
        codes = encode(stage, int(kind), microbatch, self._num_microbatches)
        self._codes.append(codes[real])
        self._keys.append(np.broadcast_to(key, microbatch.shape)[real])

    def codes(self) -> IntArray:
        order = np.argsort(np.concatenate(self._keys), kind="stable")
        return np.concatenate(self._codes)[order]


def lagged(
    name: str,
    num_meshes: int,
    num_microbatches: int,
    warm_up: Sequence[int] | IntArray,
    weight_delay: Sequence[int] | IntArray | None = None,
) -> Schedule:
    """Makes a schedule of one stage a mesh in which backward follows forward at a fixed lag.

    Args:
      name: the family.
      num_meshes: also the number of stages.
      num_microbatches: of the step.
      warm_up: for each mesh how many forwards run before the first backward, if there are as
        many: backward i comes right after forward i + warm_up - 1.
      weight_delay: for each mesh how many later input gradients run before a weight gradient;
        without it the backward stays whole.
    """
    microbatch = np.arange(num_microbatches)
    rows = []
    for mesh in range(num_meshes):
        line = Line(num_microbatches)
        backward_key = 3 * (microbatch + int(warm_up[mesh]) - 1) + 1
        line.add(mesh, Kind.F, microbatch, 3 * microbatch)
        if weight_delay is None:
            line.add(mesh, Kind.B, microbatch, backward_key)
        else:
            line.add(mesh, Kind.Bi, microbatch, backward_key)
            line.add(mesh, Kind.Bw, microbatch, backward_key + 3 * int(weight_delay[mesh]) + 1)
        rows.append(line.codes())
    return Schedule(rows, np.arange(num_meshes), num_microbatches, name)
