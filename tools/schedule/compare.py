"""A table of all schedules of one size."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mpmd.schedules import Costs, Schedule, auto, build, simulate
from mpmd.schedules.registry import AUTO, FAMILIES

_HEAD = ("schedule", "stages per mesh", "step time", "bubble", "peak memory", "against 1F1B")
_OF_A_STAGE = (
    "forward",
    "input_gradient",
    "weight_gradient",
    "backward",
    "overlapped",
    "activations",
    "weights",
)
_BETWEEN_STAGES = ("forward_transfer", "backward_transfer")
_AUTO_TASKS = 50_000  # the search takes about 20 us a task


def compare(meshes: int, microbatches: int, stages_per_mesh: int | None, costs: Costs) -> str:
    """Returns a line for every schedule, shortest step first.

    Costs are those of a model cut into one stage a mesh. Schedules with several stages a mesh run
    the same model cut finer: each of those stages costs its part. Schedules that take any number
    of stages per mesh get `stages_per_mesh`, by default 2.
    """
    rows = []
    for name, family in FAMILIES.items():
        count = family.stages_per_mesh or stages_per_mesh or 2
        schedule = build(name, meshes, microbatches, count)
        assert schedule is not None
        rows.append(_row(name, count, schedule, costs))
    if 3 * meshes * microbatches <= _AUTO_TASKS:
        best = auto(meshes, microbatches, costs=_cut(costs, meshes, 1))
        rows.append(_row(AUTO, 1, best, costs))
    usual = next(time for name, _, time, _, _ in rows if name == "1F1B")
    rows.sort(key=lambda row: (row[2], row[4]))
    lines = [_HEAD] + [
        (name, str(count), f"{time:g}", f"{bubble:.1%}", f"{memory:g}", f"{time / usual:.3f}")
        for name, count, time, bubble, memory in rows
    ]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if index else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def _row(
    name: str, count: int, schedule: Schedule, costs: Costs
) -> tuple[str, int, float, float, float]:
    timeline = simulate(schedule, _cut(costs, schedule.num_meshes, count))
    return (
        name,
        count,
        float(f"{timeline.step_time:.9g}"),  # so that equal ones are ordered by memory
        timeline.bubble_fraction,
        float(timeline.peak_memory.max()),
    )


def _cut(costs: Costs, meshes: int, parts: int) -> Costs:
    """Returns the costs of a model whose stages are cut into parts."""
    values: dict[str, Any] = {}
    for name in (*_OF_A_STAGE, *_BETWEEN_STAGES):
        value = getattr(costs, name)
        if value is None:
            continue
        array = np.asarray(value, dtype=float)
        if array.shape not in ((), (meshes,)):
            raise ValueError(
                f"{name} has {array.size} values: a comparison takes one for each of the {meshes} "
                "meshes, as if each held one stage"
            )
        finer = np.repeat(np.broadcast_to(array, (meshes,)), parts)
        values[name] = finer / parts if name in _OF_A_STAGE else finer
    return replace(costs, **values)
