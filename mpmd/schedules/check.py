"""Checks that a schedule runs every task once, where it belongs, and in an order that can run."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mpmd.schedules.dependencies import slots
from mpmd.schedules.grid import marked_grid
from mpmd.schedules.schedule import NUM_KINDS, BoolArray, Schedule
from mpmd.schedules.task import Kind, Task
from mpmd.schedules.wavefront import walk


class ScheduleError(ValueError):
    """A schedule that cannot be run; the text names the tasks and shows where they are."""


def check(schedule: Schedule) -> None:
    """Raises a ScheduleError unless the schedule can be run as it is.

    Every stage must do every microbatch's forward once. Where any stage has a backward, every
    stage must do each microbatch's backward, either whole (B) or split. A stage that splits may do
    without weight gradients (a frozen stage), but then for all microbatches.
    """
    _check_counts(schedule)
    _check_placement(schedule)
    _check_order(schedule)


def _check_counts(schedule: Schedule) -> None:
    num_stages, num_microbatches = schedule.num_stages, schedule.num_microbatches
    flat = np.zeros(num_stages * NUM_KINDS * num_microbatches, dtype=bool)
    flat[schedule.codes] = True
    present = flat.reshape(num_stages, NUM_KINDS, num_microbatches)
    if np.count_nonzero(present) < len(schedule):
        task = schedule.decode(int(np.argmax(np.bincount(schedule.codes) > 1)))
        places = np.flatnonzero(schedule.codes == schedule.encode(task))
        marks = [_place(schedule, int(position)) for position in places]
        meshes = " and ".join(f"mesh {mesh}" for mesh, _ in marks)
        raise ScheduleError(
            f"{task} is scheduled {len(places)} times, on {meshes}\n" + marked_grid(schedule, marks)
        )
    forward, whole, inputs, weights = (present[:, kind] for kind in Kind)
    _check_no_hole(schedule, ~forward, Kind.F)
    mixed = np.argwhere(whole & (inputs | weights))
    if len(mixed):
        stage, microbatch = (int(x) for x in mixed[0])
        split = Kind.Bi if inputs[stage, microbatch] else Kind.Bw
        pair = [Task(stage, kind, microbatch) for kind in (Kind.B, split)]
        raise ScheduleError(
            f"{pair[0]} is the whole backward and {pair[1]} a part of it: schedule one or the "
            "other\n" + marked_grid(schedule, _places(schedule, pair))
        )
    if (whole | inputs).any():
        splits: BoolArray = np.any(inputs, axis=1, keepdims=True)
        _check_no_hole(schedule, ~(whole | inputs) & ~splits, Kind.B)
        _check_no_hole(schedule, ~(whole | inputs) & splits, Kind.Bi)
    has_weights: BoolArray = np.any(weights, axis=1, keepdims=True)
    _check_no_hole(schedule, has_weights & inputs & ~weights, Kind.Bw)
    _check_no_hole(schedule, weights & ~inputs, Kind.Bi)


def _check_no_hole(schedule: Schedule, missing: BoolArray, kind: Kind) -> None:
    """Reports the first task of a kind that is missing, where its neighbour would have it."""
    holes = np.argwhere(missing)
    if not len(holes):
        return
    stage, microbatch = (int(x) for x in holes[0])
    task = Task(stage, kind, microbatch)
    mesh = int(schedule.placement[stage, microbatch])
    if not 0 <= mesh < schedule.num_meshes:
        raise ScheduleError(
            f"{task} is missing: its stage is on mesh {mesh}, but there are only "
            f"{schedule.num_meshes} meshes"
        )
    codes = schedule.mesh_codes(mesh)
    same_kind = codes // schedule.num_microbatches == stage * NUM_KINDS + kind
    before = np.flatnonzero(same_kind & (codes % schedule.num_microbatches < microbatch))
    index = int(before[-1]) + 1 if len(before) else 0
    others = f" ({len(holes)} tasks of this kind are missing)" if len(holes) > 1 else ""
    raise ScheduleError(
        f"{task} is missing on mesh {mesh}{others}\n"
        + marked_grid(schedule, [], {(mesh, index): str(task)})
    )


def _check_placement(schedule: Schedule) -> None:
    for mesh in range(schedule.num_meshes):
        stage_and_kind, microbatch = np.divmod(schedule.mesh_codes(mesh), schedule.num_microbatches)
        belongs = schedule.placement[stage_and_kind // NUM_KINDS, microbatch]
        wrong = np.flatnonzero(belongs != mesh)
        if len(wrong):
            index = int(wrong[0])
            task = schedule.decode(schedule.mesh_codes(mesh)[index])
            raise ScheduleError(
                f"{task} is scheduled on mesh {mesh}, but stage {task.stage} is placed on mesh "
                f"{belongs[index]}\n" + marked_grid(schedule, [(mesh, index)])
            )


def _check_order(schedule: Schedule) -> None:
    needed = slots(schedule)
    result = walk(schedule, needed)
    if not len(result.stuck):
        return
    filler = np.full(needed.count, -1, dtype=np.int64)
    filler[needed.fills] = np.arange(len(schedule))
    position = int(result.heads[result.stuck[0]])
    seen: list[int] = []
    while position not in seen:
        seen.append(position)
        blocker = int(filler[needed.needs[position]])
        position = int(result.heads[_place(schedule, blocker)[0]])
    cycle = seen[seen.index(position) :]
    blockers = [int(filler[needed.needs[head]]) for head in cycle]
    places = [_place(schedule, p) for p in dict.fromkeys(cycle + blockers)]
    story = "; ".join(
        f"{_at(schedule, head)} on mesh {_place(schedule, head)[0]} waits for "
        f"{_at(schedule, blocker)}, which mesh {_place(schedule, blocker)[0]} runs after "
        f"{_at(schedule, following)}"
        for head, blocker, following in zip(cycle, blockers, [*cycle[1:], cycle[0]], strict=True)
    )
    raise ScheduleError(f"the order is cyclic: {story}\n" + marked_grid(schedule, places))


def _task(index: Iterable[int]) -> Task:
    stage, kind, microbatch = (int(x) for x in index)
    return Task(stage, Kind(kind), microbatch)


def _at(schedule: Schedule, position: int) -> Task:
    return schedule.decode(schedule.codes[position])


def _place(schedule: Schedule, position: int) -> tuple[int, int]:
    """Returns the mesh of a position and its index in the mesh's list."""
    mesh = int(np.searchsorted(schedule.offsets, position, side="right")) - 1
    return mesh, int(position - schedule.offsets[mesh])


def _places(schedule: Schedule, tasks: Iterable[Task]) -> list[tuple[int, int]]:
    codes = [schedule.encode(task) for task in tasks]
    return [_place(schedule, int(p)) for p in np.flatnonzero(np.isin(schedule.codes, codes))]
