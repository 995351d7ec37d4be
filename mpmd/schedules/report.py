"""What a simulated run looks like and amounts to, to be read before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path

import numpy as np

from mpmd.schedules.costs import Costs
from mpmd.schedules.grid import Box, TaskBoxes, box_grid
from mpmd.schedules.timeline import Timeline

MOST_BOXES = 200_000  # of a drawing
_ROWS = 64  # of a grid, and of numbers per mesh, in a text
_STEPS = 32  # of a critical path in a text


@dataclass(frozen=True)
class ScheduleReport:
    """A simulated step: `print` it, or draw it with `to_svg`.

    Times and memory are in the units of the costs; by default a forward, an input gradient and a
    weight gradient of any stage take 1 each, and the activations of a stage and microbatch are 1.
    """

    title: str
    meshes: tuple[str, ...]
    boxes: Sequence[Box] = field(repr=False, compare=False)
    """What runs when, mesh after mesh."""
    step_time: float
    """What a step adds when steps follow each other: the longest span of a mesh."""
    makespan: float
    """From the first start to the last end."""
    bubble: tuple[float, ...]
    """For each mesh the part of the step time in which it does not compute."""
    peak_memory: tuple[float, ...]
    """For each mesh the most it holds at once."""
    critical_boxes: tuple[int, ...] = field(repr=False)
    simulate_again: Callable[[Costs], ScheduleReport] = field(repr=False, compare=False)
    note: str = ""

    @property
    def bubble_fraction(self) -> float:
        """The idle part of all meshes' time in a step."""
        total = self.step_time * len(self.meshes)
        return sum(self.bubble) / total if total else 0.0

    @property
    def critical_path(self) -> tuple[str, ...]:
        """The chain of tasks, from the first to the last, that determines the makespan."""
        return tuple(self.boxes[index].text for index in self.critical_boxes)

    def with_costs(self, costs: Costs) -> ScheduleReport:
        """Simulates the same order with other costs."""
        return self.simulate_again(costs)

    def grid(self, unit: float | None = None, columns: int = 100) -> str:
        """Prints meshes down, time across; `unit` is the time of a column, `columns` the most."""
        names = self.meshes[:_ROWS]
        shown = takewhile(lambda box: box.mesh < len(names), self.boxes)
        text = box_grid(names, shown, unit, columns)
        hidden = len(self.meshes) - len(names)
        return f"{text}\n... and {hidden} more meshes" if hidden else text

    def numbers(self) -> str:
        """Prints step time, bubble, memory and critical path."""
        path = self.critical_path
        if len(path) > _STEPS:
            half = _STEPS // 2
            path = (*path[:half], f"... {len(path) - _STEPS} more ...", *path[-half:])
        lines = [
            f"step time      {self.step_time:g}",
            f"bubble         {self.bubble_fraction:.1%}, per mesh {_list(self.bubble)}",
            f"peak memory    {max(self.peak_memory, default=0.0):g}, per mesh "
            f"{_list(self.peak_memory)}",
            f"critical path  {' '.join(path) or 'none'}",
        ]
        return "\n".join([*lines, *([self.note] if self.note else [])])

    def __str__(self) -> str:
        return f"{self.title}\n\n{self.grid()}\n\n{self.numbers()}"

    def to_svg(self, path: str | Path) -> None:
        """Draws it into a file; tasks of the critical path are framed."""
        from mpmd.schedules.svg import draw

        if len(self.boxes) > MOST_BOXES:
            raise ValueError(
                f"{len(self.boxes)} tasks are too many for a drawing, which can have {MOST_BOXES}"
            )
        Path(path).write_text(draw(self), encoding="utf-8")


def report(timeline: Timeline, meshes: Sequence[str] | None = None) -> ScheduleReport:
    """Reports on a schedule's simulation, its meshes called `mesh 0` and so on by default."""
    from mpmd.schedules.simulate import simulate

    schedule = timeline.schedule
    return ScheduleReport(
        title=f"{schedule.name or 'table'}: {_count(schedule.num_stages, 'stage')} on "
        f"{_count(schedule.num_meshes, 'mesh', 'meshes')}, "
        f"{_count(schedule.num_microbatches, 'microbatch', 'microbatches')}",
        meshes=tuple(meshes or (f"mesh {mesh}" for mesh in range(schedule.num_meshes))),
        boxes=TaskBoxes(timeline),
        step_time=timeline.step_time,
        makespan=timeline.makespan,
        bubble=tuple(timeline.bubble.tolist()),
        peak_memory=tuple(timeline.peak_memory.tolist()),
        critical_boxes=tuple(timeline.critical_positions()),
        simulate_again=lambda costs: report(simulate(schedule, costs, checked=True), meshes),
    )


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _list(values: Sequence[float]) -> str:
    """Prints numbers, as a range where there are many or all are equal."""
    if len(values) > _ROWS:
        return f"{min(values):g} to {max(values):g}"
    if len(set(np.round(values, 9))) == 1:
        return f"{values[0]:g}"
    return " ".join(f"{value:g}" for value in values)
