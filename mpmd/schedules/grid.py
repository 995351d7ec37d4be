"""Prints schedules as grids: meshes down, order or time across."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from mpmd.schedules.schedule import Schedule

if TYPE_CHECKING:
    from mpmd.schedules.timeline import Timeline

IDLE = "."
RUNNING = "-"


def order_grid(schedule: Schedule) -> str:
    """Prints the order of each mesh, one task a column."""
    return _render({m: [str(t) for t in schedule.tasks(m)] for m in range(schedule.num_meshes)})


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
    rows: dict[int, list[str]] = {}
    for mesh in sorted({m for m, _ in [*marked, *missing]}):
        places = [i for m, i in [*marked, *missing] if m == mesh]
        codes = schedule.mesh_codes(mesh)
        first, last = max(0, min(places) - around), min(len(codes), max(places) + around + 1)
        cells = ["..."] if first else []
        for index in range(first, last + 1):
            if (mesh, index) in missing:
                cells.append(f">{missing[mesh, index]}?<")
            if index < last:
                text = str(schedule.decode(codes[index]))
                cells.append(f">{text}<" if (mesh, index) in marked else text)
        rows[mesh] = [*cells, "..."] if last < len(codes) else cells
    return _render(rows)


def time_grid(timeline: Timeline, unit: float | None = None, columns: int = 400) -> str:
    """Prints a simulated run: one column per `unit` of time, by default the shortest task's.

    A task is named where it starts and drawn with dashes while it runs; dots are idle time.
    """
    schedule, starts, ends = timeline.schedule, timeline.start, timeline.end
    if unit is None:
        lengths = (ends - starts)[ends > starts]
        unit = float(lengths.min()) if len(lengths) else 1.0
    total = min(columns, max(1, round(timeline.makespan / unit)))
    rows = {}
    for mesh in range(schedule.num_meshes):
        cells = [IDLE] * total
        for position in range(schedule.offsets[mesh], schedule.offsets[mesh + 1]):
            first, last = round(starts[position] / unit), round(ends[position] / unit)
            cells[first + 1 : last] = [RUNNING] * (min(last, total) - first - 1)
            if first < total:
                cells[first] = str(schedule.decode(schedule.codes[position]))
        rows[mesh] = cells
    return _render(rows)


def _render(rows: Mapping[int, Sequence[str]]) -> str:
    width = max((len(cell) for cells in rows.values() for cell in cells), default=1)
    label = max((len(str(mesh)) for mesh in rows), default=1)
    return "\n".join(
        f"mesh {mesh:>{label}} | {' '.join(cell.ljust(width) for cell in cells)}".rstrip()
        for mesh, cells in rows.items()
    )
