"""What `pipeline_schedule` may be, checked as far as that is possible before tracing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mpmd.frontend.options import check_schedule_name
from mpmd.frontend.rules import FragmentInfo, FragmentScheduleRule
from mpmd.frontend.topology import Place
from mpmd.schedules import Schedule, ScheduleError, build, check
from mpmd.schedules.registry import FAMILIES

KEY = "pipeline_schedule"
HappensBefore = Callable[[FragmentInfo, FragmentInfo], bool]
PipelineSchedule = str | Schedule | HappensBefore | None


def check_schedule(
    schedule: Any, topology: Sequence[str], places: Mapping[str, Place], stages: Mapping[str, int]
) -> str | Schedule | HappensBefore:
    """Reads a schedule in any form but that of rules; raises ValueError.

    Args:
      schedule: what the user gave, not None.
      topology: the names of the meshes.
      places: the mesh of every label.
      stages: the stage of every label that has one.
    """
    meshes = schedulable(topology)
    on_mesh = {mesh: _stages_on(mesh, places, stages) for mesh in meshes}
    if isinstance(schedule, str):
        check_schedule_name(schedule, KEY)
        _check_family(schedule, on_mesh)
        return schedule
    if callable(schedule):
        return schedule
    if not isinstance(schedule, Schedule):
        schedule = _from_table(schedule, meshes)
    if schedule.num_meshes != len(meshes):
        raise ValueError(
            f"{KEY} is for {schedule.num_meshes} meshes, but the topology has {len(meshes)}: "
            f"{_names(meshes)}"
        )
    try:
        check(schedule)
    except ScheduleError as error:
        raise ScheduleError(f"{KEY}: {error}") from None
    _check_placement(schedule, on_mesh)
    return schedule


def schedulable(topology: Sequence[str]) -> list[str]:
    """The meshes that a schedule is for: all but those of host CPUs."""
    return [mesh for mesh in topology if not mesh.endswith("/cpu")]


def is_rules(schedule: Any) -> bool:
    """Whether a schedule is given as rules."""
    return (
        isinstance(schedule, (list, tuple))
        and bool(schedule)
        and all(isinstance(rule, FragmentScheduleRule) for rule in schedule)
    )


def _from_table(table: Any, meshes: Sequence[str]) -> Schedule:
    if isinstance(table, Mapping):
        table = _rows_of(table, meshes)
    if not isinstance(table, (list, tuple)):
        raise ValueError(
            f"{KEY} must be the name of a schedule, a Schedule, lists of tasks such as '0F1', one "
            "for each mesh, a list of FragmentScheduleRule, or a function of two FragmentInfo that "
            f"says whether the first runs before the second; got {table!r}"
        )
    try:
        return Schedule.from_table(table)
    except (TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{KEY}: {error}") from None


def _rows_of(table: Mapping[Any, Any], meshes: Sequence[str]) -> list[Any]:
    for mesh in meshes:
        if mesh not in table:
            raise ValueError(f"{KEY} has no list for the mesh {mesh!r}")
    for mesh in table:
        if mesh not in meshes:
            raise ValueError(
                f"{KEY} names {mesh!r}, which is no mesh; the meshes are {_names(meshes)}"
            )
    return [table[mesh] for mesh in meshes]


def _stages_on(
    mesh: str, places: Mapping[str, Place], stages: Mapping[str, int]
) -> list[int | None]:
    """The stages of a mesh in order; labels without one are a stage where no label has one."""
    labels = [label for label, place in places.items() if place.mesh == mesh]
    known = sorted({stages[label] for label in labels if label in stages})
    return [*known] if known or not labels else [None]


def _check_family(name: str, on_mesh: Mapping[str, list[int | None]]) -> None:
    family = FAMILIES.get(name)
    if family is None or family.stages_per_mesh == 1:
        return
    most = max(map(len, on_mesh.values()), default=0) or 1
    if family.stages_per_mesh is not None and family.stages_per_mesh != most:
        raise ValueError(
            f"{KEY}: {name} runs {family.stages_per_mesh} stages on each mesh, but the labels make "
            f"{_count(most)} on a mesh, {most * len(on_mesh)} stages in all for {len(on_mesh)} "
            "meshes; name_to_stage_assignment says which label is in which stage"
        )
    # Two microbatches show whether the placement of stages depends on them.
    schedule = build(name, len(on_mesh), 2, most)
    assert schedule is not None
    if most > 1:
        _check_placement(schedule, on_mesh)


def _check_placement(schedule: Schedule, on_mesh: Mapping[str, list[int | None]]) -> None:
    """Compares where the schedule and the configuration have their stages.

    A schedule of one stage a mesh takes whatever a mesh does as that stage.
    """
    if schedule.num_stages <= schedule.num_meshes or not schedule.has_fixed_placement:
        return
    name = schedule.name or "the table"
    placement = schedule.placement[:, 0].tolist()
    for index, (mesh, stages) in enumerate(on_mesh.items()):
        count = placement.count(index)
        if stages and len(stages) != count:
            raise ValueError(
                f"{KEY}: {name} runs {_count(count)} on mesh {mesh!r}, but the labels there make "
                f"{_count(len(stages))}; name_to_stage_assignment says which label is in which "
                "stage"
            )
    home = {stage: mesh for mesh, stages in on_mesh.items() for stage in stages}
    if None in home or len(home) != schedule.num_stages:
        return
    meshes = list(on_mesh)
    wanted = [meshes[index] for index in placement]
    for stage, mesh in zip(sorted(home, key=lambda each: each or 0), wanted, strict=True):
        if home[stage] != mesh:
            raise ValueError(
                f"{KEY}: {name} runs stage {stage} on mesh {mesh!r}, but its labels are on "
                f"{home[stage]!r}; the stages of {name} are, in order, on {_names(wanted)}"
            )


def _count(number: int) -> str:
    return "1 stage" if number == 1 else f"{number} stages"


def _names(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))
