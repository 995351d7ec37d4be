"""A list scheduler: whatever a mesh can do next, within a limit of live forwards."""

from __future__ import annotations

import heapq

import numpy as np

from mpmd.schedules.costs import Costs, FloatArray
from mpmd.schedules.schedule import IntArray, Schedule, encode
from mpmd.schedules.task import Kind, Task


def greedy(
    placement: IntArray, num_microbatches: int, costs: Costs, room: FloatArray, split: bool
) -> Schedule | None:
    """Plays a step in which every free mesh takes the best task that is ready.

    A backward is best, then a forward if there is room for its activations; weight gradients fill
    the time in which there is neither. Early microbatches go first, of one microbatch the deepest
    stage. Returns None where memory runs out before anything can be freed.

    Args:
      placement: the mesh of each stage.
      num_microbatches: of the step.
      costs: what tasks, transfers and activations cost.
      room: for each mesh the memory that activations may take.
      split: whether backwards are split into Bi and Bw.
    """
    return _Run(placement, num_microbatches, costs, room, split).play()


class _Run:
    """The state of one greedy run."""

    def __init__(
        self,
        placement: IntArray,
        num_microbatches: int,
        costs: Costs,
        room: FloatArray,
        split: bool,
    ) -> None:
        num_stages, num_meshes = len(placement), len(room)
        self.placement = placement
        self.num_microbatches = num_microbatches
        self.durations = costs.durations(num_stages)
        self.transfers = costs.transfers(num_stages)
        self.change = costs.memory(num_stages)
        self.backward = Kind.Bi if split else Kind.B
        self.room = room + 1e-9  # sums of activations are not exact
        self.idle = set(range(num_meshes))
        self.now = 0.0
        # The ready tasks of each mesh and kind: heaps of (priority, code).
        self.ready: list[dict[Kind, list[tuple[int, int]]]] = [
            {kind: [] for kind in Kind} for _ in range(num_meshes)
        ]
        self.rows: list[list[int]] = [[] for _ in range(num_meshes)]
        # Ends of tasks and arrivals of what tasks need: (time, serial number, arrival?, task).
        self.events: list[tuple[float, int, bool, Task]] = []
        self.serial = 0

    def play(self) -> Schedule | None:
        for microbatch in range(self.num_microbatches):
            self._make_ready(Task(0, Kind.F, microbatch))
        while True:
            for mesh in sorted(self.idle):
                self._start(mesh)
            if not self.events:
                break
            self.now = self.events[0][0]
            while self.events and self.events[0][0] <= self.now:
                self._handle(*heapq.heappop(self.events)[2:])
        expected = len(self.placement) * self.num_microbatches
        expected *= 3 if self.backward is Kind.Bi else 2
        if sum(map(len, self.rows)) < expected:
            return None
        rows = [np.array(row, dtype=np.int64) for row in self.rows]
        return Schedule(rows, self.placement, self.num_microbatches, "Auto")

    def _make_ready(self, task: Task) -> None:
        mesh = int(self.placement[task.stage])
        priority = task.microbatch * len(self.placement) - task.stage
        heapq.heappush(self.ready[mesh][task.kind], (priority, self._code(task)))

    def _start(self, mesh: int) -> None:
        ready = self.ready[mesh]
        for kind in (self.backward, Kind.F, Kind.Bw):
            if not ready[kind]:
                continue
            task = self._task(ready[kind][0][1])
            if kind is Kind.F and self.change[task.stage, kind] > self.room[mesh]:
                continue
            heapq.heappop(ready[kind])
            if kind is Kind.F:
                self.room[mesh] -= self.change[task.stage, kind]
            self.idle.discard(mesh)
            self.rows[mesh].append(self._code(task))
            self._after(self.durations[task.stage, kind], task, arrival=False)
            return

    def _after(self, delay: float, task: Task, arrival: bool) -> None:
        self.serial += 1
        heapq.heappush(self.events, (self.now + float(delay), self.serial, arrival, task))

    def _handle(self, arrival: bool, task: Task) -> None:
        if arrival:
            self._make_ready(task)
            return
        mesh = int(self.placement[task.stage])
        self.idle.add(mesh)
        if task.kind is not Kind.F:
            self.room[mesh] -= self.change[task.stage, task.kind]
        if task.kind is Kind.Bi:
            self._make_ready(Task(task.stage, Kind.Bw, task.microbatch))
        following = self._following(task)
        if following is not None:
            away = self.placement[following.stage] != mesh
            delay = self.transfers[task.stage, task.kind] if away else 0.0
            self._after(delay, following, arrival=True)

    def _following(self, task: Task) -> Task | None:
        last = len(self.placement) - 1
        if task.kind is Kind.F:
            if task.stage == last:
                return Task(last, self.backward, task.microbatch)
            return Task(task.stage + 1, Kind.F, task.microbatch)
        if task.kind is self.backward and task.stage > 0:
            return Task(task.stage - 1, self.backward, task.microbatch)
        return None

    def _code(self, task: Task) -> int:
        return int(encode(task.stage, task.kind, task.microbatch, self.num_microbatches))

    def _task(self, code: int) -> Task:
        rest, microbatch = divmod(code, self.num_microbatches)
        return Task(rest // len(Kind), Kind(rest % len(Kind)), microbatch)
