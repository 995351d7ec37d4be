"""Prints schedules as grids: meshes down, order or time across."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from mpmd.schedules.schedule import Schedule
from mpmd.schedules.task import Kind

if TYPE_CHECKING:
    from mpmd.schedules.timeline import Timeline

IDLE = "."
RUNNING = "-"
CUT = "..."


@dataclass(frozen=True, slots=True)
class Box:
    """Something that a mesh does for a while: what a grid shows as a name and dashes."""

    mesh: int
    text: str
    start: float
    end: float
    kinds: tuple[Kind, ...]


def order_grid(schedule: Schedule) -> str:
    """Prints the order of each mesh, one task a column."""
    rows = [[str(task) for task in schedule.tasks(mesh)] for mesh in range(schedule.num_meshes)]
    return _render({_label(mesh): row for mesh, row in enumerate(rows)})


def marked_grid(
    schedule: Schedule,
    marks: Iterable[tuple[int, int]],
    holes: Mapping[tuple[int, int], str] | None = None,
    around: int = 4,
) -> str:
    """Prints the neighbourhood of some places of a schedule, the places themselves marked.

    Args:
      schedule: what to print.
      marks: (mesh, index) of tasks to be shown as `>2F7<`.
      holes: (mesh, index) -> the task missing before that index, shown as `>2F7?<`.
      around: how many tasks before and after a place are shown.
    """
    marked, missing = set(marks), dict(holes or {})
    rows: dict[str, list[str]] = {}
    for mesh in sorted({m for m, _ in [*marked, *missing]}):
        places = [i for m, i in [*marked, *missing] if m == mesh]
        codes = schedule.mesh_codes(mesh)
        first, last = max(0, min(places) - around), min(len(codes), max(places) + around + 1)
        cells = [CUT] if first else []
        for index in range(first, last + 1):
            if (mesh, index) in missing:
                cells.append(f">{missing[mesh, index]}?<")
            if index < last:
                text = str(schedule.decode(codes[index]))
                cells.append(f">{text}<" if (mesh, index) in marked else text)
        rows[_label(mesh)] = [*cells, CUT] if last < len(codes) else cells
    return _render(rows)


def time_grid(timeline: Timeline, unit: float | None = None, columns: int = 400) -> str:
    """Prints a simulated run: one column per `unit` of time, by default the shortest task's."""
    names = [_label(mesh) for mesh in range(timeline.schedule.num_meshes)]
    return box_grid(names, TaskBoxes(timeline), unit, columns)


class TaskBoxes(Sequence[Box]):
    """The tasks of a simulated run, mesh after mesh; made when looked at, as there may be many."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._meshes = timeline.schedule.mesh_of_position()

    def __len__(self) -> int:
        return len(self._meshes)

    @overload
    def __getitem__(self, index: int) -> Box: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Box]: ...

    def __getitem__(self, index: int | slice) -> Box | Sequence[Box]:
        if isinstance(index, slice):
            return [self[position] for position in range(*index.indices(len(self)))]
        timeline = self._timeline
        task = timeline.schedule.decode(timeline.schedule.codes[index])
        start, end = float(timeline.start[index]), float(timeline.end[index])
        return Box(int(self._meshes[index]), str(task), start, end, (task.kind,))


def box_grid(
    names: Sequence[str], boxes: Iterable[Box], unit: float | None = None, columns: int = 400
) -> str:
    """Prints boxes in time, one row a mesh.

    A box is named where it starts and drawn with dashes while it lasts; dots are idle time. What
    takes no time is left out, and so is what begins after so many columns.
    """
    shown = [box for box in boxes if box.end > box.start]
    if unit is None:
        unit = min((box.end - box.start for box in shown), default=1.0)
    wanted = max((box.end for box in shown), default=0.0) / unit
    total = max(1, round(min(columns, wanted)))
    rows = [[IDLE] * total for _ in names]
    for box in shown:
        first = round(min(box.start / unit, total))
        last = max(round(min(box.end / unit, total)), first + 1)
        if first < total:
            rows[box.mesh][first:last] = [box.text, *[RUNNING] * (last - first - 1)]
    end = [CUT] if round(min(wanted, total + 1)) > total else []
    return _render({name: [*row, *end] for name, row in zip(names, rows, strict=True)})


def _label(mesh: int) -> str:
    return f"mesh {mesh}"


def _render(rows: Mapping[str, Sequence[str]]) -> str:
    width = max((len(cell) for cells in rows.values() for cell in cells), default=1)
    label = max((len(name) for name in rows), default=1)
    return "\n".join(
        f"{_padded(name, label)} | {' '.join(cell.ljust(width) for cell in cells)}".rstrip()
        for name, cells in rows.items()
    )


def _padded(name: str, width: int) -> str:
    """Aligns the numbers of `mesh 7` and `mesh 12` on the right, other names on the left."""
    word, _, number = name.rpartition(" ")
    return f"{word} {number:>{width - len(word) - 1}}" if word else name.ljust(width)
