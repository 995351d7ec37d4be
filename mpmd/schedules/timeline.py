"""The result of a simulation: when every task ran, and what follows from that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from mpmd.schedules.costs import Costs, FloatArray
from mpmd.schedules.dependencies import slots
from mpmd.schedules.schedule import NUM_KINDS, Schedule
from mpmd.schedules.task import Kind, Task


@dataclass(frozen=True)
class Timeline:
    """Start and end of each task, in the order of `schedule.codes`."""

    schedule: Schedule
    costs: Costs
    start: FloatArray
    end: FloatArray

    @cached_property
    def makespan(self) -> float:
        """The time from the first task's start to the last one's end."""
        return float(self.end.max(initial=0.0) - self.start.min(initial=0.0))

    @cached_property
    def span(self) -> FloatArray:
        """For each mesh the time from the start of its first task to the end of its last."""
        first, last = self.schedule.offsets[:-1], self.schedule.offsets[1:] - 1
        used = first <= last
        result = np.zeros(len(first))
        result[used] = self.end[last[used]] - self.start[first[used]]
        return result

    @cached_property
    def step_time(self) -> float:
        """The time a step adds when steps follow each other: the longest span of a mesh.

        A mesh starts the next step when it is done with this one, so a mesh that starts late and
        ends late costs nothing. It is what the zero-bubble schedules make small.
        """
        return float(self.span.max(initial=0.0))

    @cached_property
    def busy(self) -> FloatArray:
        """For each mesh the time it computes."""
        paired = self.schedule.paired if self.costs.overlapped is not None else None
        totals = np.zeros(self.schedule.num_meshes)
        for mesh, part in enumerate(self._parts()):
            lengths = self.end[part] - self.start[part]
            if paired is not None:
                lengths[1:][paired[part][:-1]] = 0.0  # it ran within the time of the task before
            totals[mesh] = lengths.sum()
        return totals

    def _parts(self) -> Iterator[slice]:
        """Yields the positions of each mesh, as arrays over all tasks may be large."""
        offsets = self.schedule.offsets.tolist()
        return (slice(first, last) for first, last in pairwise(offsets))

    @cached_property
    def bubble(self) -> FloatArray:
        """For each mesh the part of the step time in which it does not compute."""
        return self.step_time - self.busy

    @cached_property
    def bubble_fraction(self) -> float:
        """The idle part of all meshes' time in a step."""
        total = self.step_time * self.schedule.num_meshes
        return float(self.bubble.sum() / total) if total else 0.0

    @cached_property
    def peak_memory(self) -> FloatArray:
        """For each mesh the most memory it holds at once: its weights and live activations."""
        schedule, num_stages = self.schedule, self.schedule.num_stages
        change, weights = self.costs.memory(num_stages), self.costs.weight_memory(num_stages)
        peak = np.zeros(schedule.num_meshes)
        for mesh, part in enumerate(self._parts()):
            stage_and_kind = schedule.codes[part] // schedule.num_microbatches
            stage, kind = np.divmod(stage_and_kind, NUM_KINDS)
            peak[mesh] = np.cumsum(change[stage, kind]).max(initial=0.0)
            peak[mesh] += weights[np.unique(stage)].sum()
        return peak

    def critical_path(self) -> list[Task]:
        """Returns the chain of tasks, from the first to the last, that determines the makespan."""
        codes = self.schedule.codes
        return [self.schedule.decode(codes[position]) for position in self.critical_positions()]

    def critical_positions(self) -> list[int]:
        """Returns the critical path as positions in `schedule.codes`."""
        schedule, needed = self.schedule, slots(self.schedule)
        filler = np.full(needed.count, -1, dtype=np.int64)
        filler[needed.fills] = np.arange(len(schedule))
        filler[needed.sink] = -1
        firsts = set(schedule.offsets[:-1].tolist())
        position = int(np.argmax(self.end)) if len(schedule) else -1
        path: list[int] = []
        while position >= 0:
            path.append(position)
            waited_for_mesh = (
                position not in firsts and self.end[position - 1] >= self.start[position]
            )
            if waited_for_mesh:
                position -= 1
            else:
                position = int(filler[needed.needs[position]])
        return path[::-1]

    def span_of(self, task: Task) -> tuple[float, float]:
        """Returns the start and end of a task."""
        found = np.flatnonzero(self.schedule.codes == self.schedule.encode(task))
        if not len(found):
            raise ValueError(f"{task} is not in the schedule")
        return float(self.start[found[0]]), float(self.end[found[0]])

    def in_flight(self, mesh: int) -> int:
        """Returns how many forwards of a mesh are live at once at most."""
        kinds = self.schedule.kinds()
        first, last = self.schedule.offsets[mesh], self.schedule.offsets[mesh + 1]
        change = np.array([1, -1, 0, -1])[kinds[first:last]]
        if Kind.Bw not in kinds[first:last]:
            change[kinds[first:last] == Kind.Bi] = -1
        return int(np.cumsum(change).max(initial=0))
