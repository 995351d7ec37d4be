"""Simulates a schedule: when each task would run, given what tasks and transfers cost."""

from __future__ import annotations

import heapq
from collections.abc import Hashable

import numpy as np

from mpmd.schedules.check import check
from mpmd.schedules.costs import Costs, FloatArray
from mpmd.schedules.dependencies import Slots, crosses_meshes, producer_stage, slots
from mpmd.schedules.schedule import NUM_KINDS, IntArray, Schedule
from mpmd.schedules.task import Kind
from mpmd.schedules.timeline import Timeline
from mpmd.schedules.wavefront import PerTask, walk


def simulate(schedule: Schedule, costs: Costs | None = None, *, checked: bool = False) -> Timeline:
    """Runs the schedule on paper, every task as early as it can.

    Args:
      schedule: what to run; one that cannot run is refused with a ScheduleError.
      costs: durations and memory; by default one unit per forward and per half backward.
      checked: says that `check` has passed already.
    """
    costs = costs or Costs()
    if not checked:
        check(schedule)
    durations, delay = costs.durations(schedule.num_stages), _delays(schedule, costs)
    overlapped, paired = costs.overlapped_durations(schedule.num_stages), None
    if overlapped is not None:
        paired = schedule.paired

    flat, num_microbatches = durations.ravel(), schedule.num_microbatches

    def duration(position: IntArray) -> FloatArray:
        stage_and_kind = schedule.codes[position] // num_microbatches
        alone = flat[stage_and_kind]
        if overlapped is None or paired is None:
            return alone
        return np.where(paired[position], overlapped[stage_and_kind // NUM_KINDS], alone)

    needed = slots(schedule)
    if costs.link is None or delay is None:
        result = walk(schedule, needed, duration, delay, paired)
        return Timeline(schedule, costs, result.start, result.end)
    if paired is not None:
        raise ValueError("links and overlapped pairs cannot be simulated together")
    every = np.arange(len(schedule))
    spans = _simulate_links(schedule, costs, needed, duration(every), delay(every))
    return Timeline(schedule, costs, *spans)


def _delays(schedule: Schedule, costs: Costs) -> PerTask | None:
    """Returns how long each task's input takes from the end of what makes it, if it takes time."""
    transfers = costs.transfers(schedule.num_stages)
    if not transfers.any():
        return None

    def delay(position: IntArray) -> FloatArray:
        stage_and_kind, microbatch = np.divmod(schedule.codes[position], schedule.num_microbatches)
        stage, kind = np.divmod(stage_and_kind, NUM_KINDS)
        made_by = np.where((kind == Kind.F) | (kind == Kind.Bw), kind, Kind.B)
        origin = producer_stage(schedule, stage, kind)
        crosses = schedule.placement[stage, microbatch] != schedule.placement[origin, microbatch]
        return np.where(crosses, transfers[origin, made_by], 0.0)

    return delay


def _simulate_links(
    schedule: Schedule, costs: Costs, needed: Slots, duration: FloatArray, delay: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Plays events in the order of time, so that transfers queue up for links as they arise."""
    assert costs.link is not None
    mesh_of, crosses = schedule.mesh_of_position(), crosses_meshes(schedule)
    reader = np.full(needed.count, -1, dtype=np.int64)  # the task of another mesh that waits
    reader[needed.needs[crosses]] = np.flatnonzero(crosses)
    made, arrived = np.full(needed.count, np.inf), np.full(needed.count, np.inf)
    made[needed.source] = 0.0
    start, end = np.full(len(schedule), np.inf), np.full(len(schedule), np.inf)
    heads, free = schedule.offsets[:-1].copy(), np.zeros(schedule.num_meshes)
    busy_until: dict[Hashable, float] = {}
    events: list[tuple[float, int]] = []  # (end of a task, its position)

    def start_next(mesh: int) -> None:
        position = heads[mesh]
        if position == schedule.offsets[mesh + 1]:
            return
        available = (arrived if crosses[position] else made)[needed.needs[position]]
        if available < np.inf:
            start[position] = max(free[mesh], available)
            end[position] = free[mesh] = start[position] + duration[position]
            heads[mesh] += 1
            heapq.heappush(events, (float(end[position]), int(position)))

    for mesh in range(schedule.num_meshes):
        start_next(mesh)
    while events:
        time, position = heapq.heappop(events)
        mesh, slot = int(mesh_of[position]), needed.fills[position]
        made[slot] = time
        start_next(mesh)
        waiting = int(reader[slot])
        if waiting >= 0:
            target = int(mesh_of[waiting])
            link = costs.link(mesh, target)
            arrived[slot] = max(time, busy_until.get(link, 0.0)) + delay[waiting]
            busy_until[link] = float(arrived[slot])
            if heads[target] == waiting:
                start_next(target)
    return start, end
