"""Walks a schedule front by front: in each round every mesh that can run its next task does.

The rounds number as many as the longest chain of tasks, and a round costs a few array operations
over the meshes, so that schedules of millions of tasks take seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mpmd.schedules.dependencies import Slots
from mpmd.schedules.schedule import BoolArray, IntArray, Schedule

FloatArray = NDArray[np.float64]
PerTask = Callable[[IntArray], FloatArray]
"""Says something of the tasks at some positions."""


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
    duration: PerTask | None = None,
    delay: PerTask | None = None,
    paired: BoolArray | None = None,
) -> Walk:
    """Runs every task as early as its mesh, its dependency and `delay` after that allow.

    A task marked in `paired` runs with the next one of its mesh: the two start when both can, and
    end after the duration of the first. Without `duration` no task takes time, and no starts and
    ends are noted: all that matters is where it gets stuck.
    """
    count = 0 if duration is None else len(schedule)
    start, end = np.full(count, np.inf), np.full(count, np.inf)
    filled = np.full(slots.count, np.inf)
    filled[slots.source] = 0.0
    heads = schedule.offsets[:-1].copy()
    stops = schedule.offsets[1:]
    free = np.zeros(schedule.num_meshes)
    active = np.flatnonzero(heads < stops)

    def available(position: IntArray) -> FloatArray:
        made = filled[slots.needs[position]]
        return made if delay is None else made + delay(position)

    while active.size:
        position = heads[active]
        begin = available(position)
        if paired is not None:
            begin = np.maximum(begin, available(position + paired[position]))
        ready = begin < np.inf
        if not ready.any():
            break
        mesh, position, begin = active[ready], position[ready], begin[ready]
        if duration is None:
            filled[slots.fills[position]] = 0.0
        else:
            begin = np.maximum(free[mesh], begin)
            finish = begin + duration(position)
            free[mesh] = finish
            for each in (position,) if paired is None else (position, position + paired[position]):
                start[each] = begin
                end[each] = finish
                filled[slots.fills[each]] = finish
        heads[mesh] += 1 if paired is None else 1 + paired[position]
        active = active[heads[active] < stops[active]]
    return Walk(start, end, heads, active)
