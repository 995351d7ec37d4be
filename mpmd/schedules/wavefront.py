"""Walks a schedule front by front: in each round every mesh that can run its next task does.

The rounds number as many as the longest chain of tasks, and a round costs a few array operations
over the meshes, so that schedules of millions of tasks take seconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mpmd.schedules.dependencies import Slots
from mpmd.schedules.schedule import BoolArray, IntArray, Schedule

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Walk:
    """When each task runs; `heads` are the positions the meshes stopped at."""

    start: FloatArray
    end: FloatArray
    heads: IntArray
    stuck: IntArray  # meshes whose next task waits for ever


def walk(
    schedule: Schedule,
    slots: Slots,
    duration: FloatArray,
    delay: FloatArray,
    paired: BoolArray | None = None,
) -> Walk:
    """Runs every task as early as its mesh, its dependency and `delay` after that allow.

    A task marked in `paired` runs with the next one of its mesh: the two start when both can, and
    end after the duration of the first.
    """
    start = np.full(len(schedule), np.inf)
    end = np.full(len(schedule), np.inf)
    filled = np.full(slots.count, np.inf)
    filled[slots.source] = 0.0
    heads = schedule.offsets[:-1].copy()
    stops = schedule.offsets[1:]
    free = np.zeros(schedule.num_meshes)
    active = np.flatnonzero(heads < stops)
    while active.size:
        position = heads[active]
        available = filled[slots.needs[position]] + delay[position]
        if paired is not None:
            second = position + paired[position]
            available = np.maximum(available, filled[slots.needs[second]] + delay[second])
        ready = available < np.inf
        if not ready.any():
            break
        mesh, position = active[ready], position[ready]
        begin = np.maximum(free[mesh], available[ready])
        finish = begin + duration[position]
        start[position] = begin
        end[position] = finish
        free[mesh] = finish
        filled[slots.fills[position]] = finish
        if paired is not None:
            second = position + paired[position]
            start[second] = begin
            end[second] = finish
            filled[slots.fills[second]] = finish
            heads[mesh] = second
        heads[mesh] += 1
        active = active[heads[active] < stops[active]]
    return Walk(start, end, heads, active)
