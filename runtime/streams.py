"""Cuts a plan into one stream of operations per lane.

A lane is a set of devices whose programs are enqueued by one thread. Streams are plain data: what
waits for what, and which operation frees what, can be read and tested without running anything.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mpmd.runtime.plan import Copy, Plan, Run


@dataclass(frozen=True)
class Wait:
    """Waits until another lane has issued the copy that `edge` stands for."""

    edge: int


@dataclass(frozen=True)
class Signal:
    """Tells another lane that the copy it waits for is issued."""

    edge: int


@dataclass(frozen=True)
class Copies:
    """Issues several copies as one call."""

    copies: tuple[Copy, ...]


@dataclass(frozen=True)
class Free:
    """Drops references to values that nothing uses any more; their memory is then free."""

    values: tuple[int, ...]


@dataclass(frozen=True)
class Delete:
    """Deletes donated arguments, to which the caller still holds references."""

    values: tuple[int, ...]


Operation = Wait | Signal | Run | Copies | Free | Delete
# Whatever the caller uses to tell lanes apart; None where there is but one.
Lane = Any


@dataclass
class Stream:
    """What one lane does in a step, in order."""

    lane: Lane
    operations: list[Operation] = field(default_factory=list)


@dataclass(frozen=True)
class Streams:
    """All streams of a program; `num_edges` counts the signals between them."""

    streams: tuple[Stream, ...]
    num_edges: int


def make_streams(plan: Plan, lane_of: Callable[[int], Lane]) -> Streams:
    """Returns the streams of a plan; `lane_of` maps device ids of the program to lanes.

    Each stream keeps the plan's order. As everything can be issued in the plan's order, lanes that
    follow it cannot wait for each other in a circle.
    """
    return _Builder(plan, lane_of).build()


class _Builder:
    def __init__(self, plan: Plan, lane_of: Callable[[int], Lane]) -> None:
        self.plan = plan
        self.lanes = {devices: lane_of(devices[0]) for devices in plan.device_sets}
        self.streams: dict[Lane, Stream] = {}
        self.edge_of: dict[int, int] = {}
        self.waited: set[int] = set()
        self.num_edges = 0
        self.last_use = self._last_uses()

    def build(self) -> Streams:
        self._delete_unused_arguments()
        batch: list[Copy] = []
        made: set[int] = set()
        lane: Lane = None
        for number, step in enumerate(self.plan.steps):
            together = isinstance(step, Copy) and self.lanes[step.devices] == lane
            if batch and not (together and step.input not in made):  # type: ignore[union-attr]
                self._copies(lane, batch, number)
                batch, made = [], set()
            lane = self.lanes[step.devices]
            if isinstance(step, Run):
                self._run(lane, step, number)
            else:
                batch.append(step)
                made.add(step.output)
        if batch:
            self._copies(lane, batch, len(self.plan.steps))
        return Streams(tuple(self.streams.values()), self.num_edges)

    def _run(self, lane: Lane, run: Run, number: int) -> None:
        self._wait(lane, run.inputs)
        self._emit(lane, run)
        self._release(lane, (*run.inputs, *run.outputs), number)

    def _copies(self, lane: Lane, copies: list[Copy], end: int) -> None:
        """Issues the copies that precede step number `end`, then tells those that wait for them."""
        self._wait(lane, tuple(copy.input for copy in copies))
        self._emit(lane, Copies(tuple(copies)))
        edges: dict[Lane, int] = {}
        for copy in copies:
            target = self.lanes[self.plan.types[copy.output].devices]
            if target != lane and copy.output in self.last_use:
                self.edge_of[copy.output] = edges.setdefault(target, self.num_edges + len(edges))
        self.num_edges += len(edges)
        for edge in edges.values():
            self._emit(lane, Signal(edge))
        unused = [copy.output for copy in copies if copy.output not in self.last_use]
        self._release(lane, (*(copy.input for copy in copies), *unused), end - 1)

    def _wait(self, lane: Lane, values: tuple[int, ...]) -> None:
        """Waits once for each edge: the values of an edge all go to one lane."""
        edges = {self.edge_of[value] for value in values if value in self.edge_of}
        for edge in sorted(edges - self.waited):
            self._emit(lane, Wait(edge))
        self.waited |= edges

    def _release(self, lane: Lane, values: tuple[int, ...], number: int) -> None:
        """Frees the values whose last use is at or before step `number`, or that have none."""
        over = [v for v in dict.fromkeys(values) if self.last_use.get(v, number) <= number]
        donated = tuple(value for value in over if self._is_donated(value))
        if donated:
            self._emit(lane, Delete(donated))
        if over:
            self._emit(lane, Free(tuple(over)))

    def _is_donated(self, value: int) -> bool:
        return value < self.plan.num_arguments and self.plan.donated[value]

    def _delete_unused_arguments(self) -> None:
        for value in range(self.plan.num_arguments):
            if self._is_donated(value) and value not in self.last_use:
                self._emit(self.lanes[self.plan.types[value].devices], Delete((value,)))

    def _last_uses(self) -> dict[int, int]:
        """Returns the number of the last step that uses each value; results are used at the end."""
        last: dict[int, int] = {}
        for number, step in enumerate(self.plan.steps):
            inputs = step.inputs if isinstance(step, Run) else (step.input,)
            last.update(dict.fromkeys(inputs, number))
        return {**last, **dict.fromkeys(self.plan.results, len(self.plan.steps))}

    def _emit(self, lane: Lane, operation: Operation) -> None:
        self.streams.setdefault(lane, Stream(lane)).operations.append(operation)
