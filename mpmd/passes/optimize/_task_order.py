"""Maps the scheduling units of a program to the tasks of a schedule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mpmd.passes.base import PassFailure
from mpmd.passes.optimize._scheduling_units import Unit
from mpmd.schedules.registry import AUTO, FAMILIES, auto, build
from mpmd.schedules.schedule import Schedule
from mpmd.schedules.task import Kind

# What stands in for a task that a schedule does not have: schedules may split backwards that the
# program does not, and the other way round.
_INSTEAD = {Kind.B: (Kind.B, Kind.Bi), Kind.Bi: (Kind.Bi, Kind.B), Kind.Bw: (Kind.Bw, Kind.B)}

Key = tuple[int, Kind, int, int]
"""Mesh, kind, microbatch, and which of the mesh's stages it is, counted from the first."""


def schedule_for(name: str, units: Sequence[Unit], meshes: Sequence[str]) -> Schedule | None:
    """Makes the schedule of a family in the size of the program.

    A family with one stage per mesh takes all that a mesh does as that stage.
    """
    num_microbatches = 1 + max((unit.microbatch for unit in units), default=0)
    stages = _stages_per_mesh(units)
    if name == AUTO:
        return auto(
            len(meshes),
            num_microbatches,
            stages,
            placement=_stage_placement(units, meshes) if stages > 1 else None,
            split_backward=any(unit.kind in (Kind.Bi, Kind.Bw) for unit in units),
        )
    family = FAMILIES.get(name)
    if family is not None and family.stages_per_mesh == 1:
        stages = 1
    return build(name, len(meshes), num_microbatches, stages)


def numbered(units: Sequence[Unit]) -> list[Unit]:
    """Returns the units with microbatches numbered from 0, whatever the call counters are."""
    numbers = {n: i for i, n in enumerate(sorted({unit.microbatch for unit in units}))}
    return [replace(unit, microbatch=numbers[unit.microbatch]) for unit in units]


def _stages_per_mesh(units: Sequence[Unit]) -> int:
    stages: dict[tuple[str, int], set[int | None]] = {}
    for unit in units:
        stages.setdefault((unit.mesh, unit.microbatch), set()).add(unit.stage)
    return max(map(len, stages.values()), default=1)


def _stage_placement(units: Sequence[Unit], meshes: Sequence[str]) -> list[int]:
    """Returns the mesh of every stage, in the order of the stage ids."""
    placed = {unit.stage: meshes.index(unit.mesh) for unit in units if unit.stage is not None}
    return [placed[stage] for stage in sorted(placed)]


def ordered_groups(
    schedule: Schedule, units: Sequence[Unit], meshes: Sequence[str]
) -> list[list[list[int]]]:
    """Returns, for each mesh, the positions of its units in groups, one group after the other.

    Units of the same task, such as several fragments of one stage, make a group. Raises
    PassFailure for a unit that has no task in the schedule.
    """
    if schedule.num_meshes != len(meshes):
        raise ValueError(
            f"the schedule is for {schedule.num_meshes} meshes, but the topology has "
            f"{len(meshes)}: {', '.join(meshes)}"
        )
    ranks = _stage_ranks(schedule, units)
    tasks = _keys(schedule)
    groups: list[dict[int, list[int]]] = [{} for _ in meshes]
    mesh_index = {name: index for index, name in enumerate(meshes)}
    for unit in units:
        if unit.mesh not in mesh_index:
            continue
        mesh = mesh_index[unit.mesh]
        rank = ranks[_scope(schedule, unit)][unit.stage]
        for kind in _INSTEAD.get(unit.kind, (unit.kind,)):
            index = tasks.get((mesh, kind, unit.microbatch, rank))
            if index is not None:
                groups[mesh].setdefault(index, []).append(unit.position)
                break
        else:
            raise PassFailure(
                unit.fragment.op,
                f"schedule {schedule.name or 'table'} has no {unit.kind.name} of microbatch "
                f"{unit.microbatch} for {_stage_text(unit)} on mesh {unit.mesh!r}: it is for "
                f"{schedule.num_stages} stages on {schedule.num_meshes} meshes and "
                f"{schedule.num_microbatches} microbatches",
            )
    return [[positions for _, positions in sorted(each.items())] for each in groups]


def _keys(schedule: Schedule) -> dict[Key, int]:
    """Returns where in the order each task is."""
    fixed = schedule.has_fixed_placement
    rank_of: dict[tuple[int, int, int], int] = {}
    held: dict[tuple[int, int], int] = {}
    for stage in range(schedule.num_stages):
        for microbatch in range(1 if fixed else schedule.num_microbatches):
            mesh = int(schedule.placement[stage, microbatch])
            rank = held.get((mesh, microbatch), 0)
            held[mesh, microbatch] = rank + 1
            rank_of[mesh, stage, microbatch] = rank
    keys: dict[Key, int] = {}
    for mesh, tasks in enumerate(schedule):
        for index, task in enumerate(tasks):
            rank = rank_of[mesh, task.stage, 0 if fixed else task.microbatch]
            keys[mesh, task.kind, task.microbatch, rank] = index
    return keys


def _scope(schedule: Schedule, unit: Unit) -> tuple[str, int]:
    """Returns within what stages are ranked: a mesh, or a mesh and a microbatch."""
    return unit.mesh, 0 if schedule.has_fixed_placement else unit.microbatch


def _stage_ranks(
    schedule: Schedule, units: Sequence[Unit]
) -> dict[tuple[str, int], dict[int | None, int]]:
    """Numbers the stages of each mesh in order.

    A schedule with one stage a mesh takes all units of a mesh as that stage.
    """
    stages: dict[tuple[str, int], set[int | None]] = {}
    for unit in units:
        stages.setdefault(_scope(schedule, unit), set()).add(unit.stage)
    single = schedule.num_stages <= schedule.num_meshes
    return {
        scope: {
            stage: 0 if single else rank
            for rank, stage in enumerate(sorted(found, key=lambda s: -1 if s is None else s))
        }
        for scope, found in stages.items()
    }


def _stage_text(unit: Unit) -> str:
    names = ", ".join(map(str, unit.fragment.origins))
    return f"{names} (stage {unit.stage})" if unit.stage is not None else names
