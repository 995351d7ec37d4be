"""Searches for the schedule with the shortest step that fits into memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from mpmd.schedules.costs import Costs, FloatArray
from mpmd.schedules.greedy import greedy
from mpmd.schedules.schedule import IntArray, Schedule
from mpmd.schedules.simulate import simulate


def search(
    candidates: Sequence[Schedule],
    placement: IntArray,
    num_microbatches: int,
    costs: Costs | None = None,
    memory_limit: float | Sequence[float] = np.inf,
    split_backward: bool = True,
) -> Schedule:
    """Returns the best of the candidates and of schedules made for these costs.

    Args:
      candidates: schedules of the known families.
      placement: the mesh of each stage; candidates that place them otherwise are left out.
      num_microbatches: of the step.
      costs: measured or estimated; equal stages by default.
      memory_limit: what each mesh may hold, in the unit of `costs.activations`.
      split_backward: whether backwards can be split; otherwise candidates that do are left out.

    Raises ValueError if nothing fits, naming the least memory that was found to be enough.
    """
    costs = costs or Costs()
    num_meshes = int(placement.max()) + 1
    limit = np.broadcast_to(np.asarray(memory_limit, dtype=float), (num_meshes,))
    best: tuple[float, float] | None = None
    chosen: Schedule | None = None
    least = np.inf
    for schedule in _all(candidates, placement, num_microbatches, costs, limit, split_backward):
        timeline = simulate(schedule, costs)
        peak = timeline.peak_memory
        if (peak > limit + 1e-9).any():
            least = min(least, float(peak.max()))
            continue
        # Sums of the same times in another order are no reason to take more memory.
        value = (float(f"{timeline.step_time:.9g}"), float(peak.max()))
        if best is None or value < best:
            best, chosen = value, schedule
    if chosen is None:
        raise ValueError(
            f"no schedule of {num_microbatches} microbatches on {num_meshes} meshes fits into "
            f"memory of {float(limit.min()):g}; the least that was found takes {least:g}"
        )
    return chosen.renamed("Auto")


def _all(
    candidates: Sequence[Schedule],
    placement: IntArray,
    num_microbatches: int,
    costs: Costs,
    limit: FloatArray,
    split_backward: bool,
) -> Iterator[Schedule]:
    for schedule in candidates:
        same_place = np.array_equal(
            schedule.placement, np.broadcast_to(placement[:, None], schedule.placement.shape)
        )
        if same_place and (split_backward or not schedule.splits_backward):
            yield schedule
    for room in _rooms(placement, costs, limit):
        for split in {False, split_backward}:
            made = greedy(placement, num_microbatches, costs, room, split)
            if made is not None:
                yield made


def _rooms(placement: IntArray, costs: Costs, limit: FloatArray) -> Iterator[FloatArray]:
    """Yields memory limits to try: all there is, and what the known families get along with.

    A list scheduler with more room than it needs runs ahead, which helps neither time nor memory.
    """
    num_stages, num_meshes = len(placement), len(limit)
    used = np.zeros(num_meshes)
    np.add.at(used, placement, costs.weight_memory(num_stages))
    activations = np.zeros(num_meshes)
    np.add.at(activations, placement, costs.memory(num_stages)[:, 0])
    yield limit - used
    for in_flight in (num_meshes, 2 * num_meshes - 1):
        yield np.minimum(limit - used, in_flight * activations)
