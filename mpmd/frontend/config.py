"""What to place where: the configuration of a partitioned function, checked when it is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
from jax.sharding import Mesh

from mpmd.frontend.names import check_label
from mpmd.frontend.options import PartitioningOptions, check_options
from mpmd.frontend.rule_checks import Labels, check_merge_rules, check_schedule_rules
from mpmd.frontend.rules import FragmentMergeRule, FragmentScheduleRule
from mpmd.frontend.schedules import KEY, PipelineSchedule, check_schedule, is_rules
from mpmd.frontend.topology import Place, Topology, check_topology, parse_place

NameToMeshAssignment = Mapping[str, str | tuple[str, int]]
NameToStageAssignment = Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class Config:
    """A checked configuration; make it with `make_config`."""

    topology: dict[str, Mesh]
    places: dict[str, Place]  # of each label
    stages: dict[str, int]  # of the labels that have one
    input_mesh_assignment: Any
    output_mesh_assignment: Any
    partitioning_options: dict[str, bool | str]
    read_input_output_mesh_from_shardings: bool
    pipeline_schedule: PipelineSchedule
    fragment_merge_rules: tuple[FragmentMergeRule, ...]
    fragment_schedule_rules: tuple[FragmentScheduleRule, ...]

    @property
    def name_to_mesh_assignment(self) -> dict[str, str]:
        """The mesh, with its kind of memory where one was given, of each label."""
        return {label: str(place) for label, place in self.places.items()}

    @property
    def name_to_stage_assignment(self) -> dict[str, int]:
        """The stage of each label that has one."""
        return dict(self.stages)

    @property
    def sharding_mesh(self) -> Mesh:
        """The first mesh: what shardings inside the function may name if all meshes look alike."""
        return next(iter(self.topology.values()))

    @property
    def devices(self) -> list[Any]:
        """All devices, mesh after mesh; in a partitioned program a device is its index here."""
        return [device for mesh in self.topology.values() for device in mesh.devices.flat]


def make_config(
    topology: Topology,
    name_to_mesh_assignment: NameToMeshAssignment,
    *,
    name_to_stage_assignment: NameToStageAssignment | None = None,
    input_mesh_assignment: Any = (),
    output_mesh_assignment: Any = (),
    partitioning_options: PartitioningOptions | None = None,
    read_input_output_mesh_from_shardings: bool = False,
    pipeline_schedule: Any = None,
    fragment_merge_rules: Sequence[FragmentMergeRule] = (),
    fragment_schedule_rules: Sequence[FragmentScheduleRule] = (),
) -> Config:
    """Makes a configuration; a mistake is a ValueError that names the key and what is valid.

    Args:
      topology: mesh names to meshes with no device in common.
      name_to_mesh_assignment: labels to mesh names ("m1", or "m1#pinned_host" for a kind of
        memory), or to pairs of a mesh name and a stage.
      name_to_stage_assignment: labels to stages, numbers from 0; a stage is one contiguous
        computation.
      input_mesh_assignment: mesh names of the inputs, a prefix of the tree of the arguments; None
        where the compiler shall choose.
      output_mesh_assignment: the same for the outputs.
      partitioning_options: switches of the compiler.
      read_input_output_mesh_from_shardings: whether in_shardings and out_shardings of `mpmd.jit`
        also say on which mesh an input or output is.
      pipeline_schedule: in which order each mesh runs its microbatches, in one of these forms: the
        name of a schedule; a `Schedule`; a list of tasks ("0F1" is the forward of stage 0 and
        microbatch 1) for each mesh, in a list or a dict; a list of `FragmentScheduleRule`; or a
        function of two `FragmentInfo` of one mesh that says whether the first has to run before
        the second. Such a function may be any relation for up to 128 computations on a mesh, which
        it is asked about in pairs; beyond that it is used for sorting, and has to compare as
        `key(first) < key(second)` would. The default is "1F1B".
      fragment_merge_rules: fragments to merge.
      fragment_schedule_rules: fragments to put in order, instead of a `pipeline_schedule`.
    """
    meshes = check_topology(topology)
    places, stages = _check_assignment(name_to_mesh_assignment, meshes)
    stages = _check_stages(name_to_stage_assignment, places, stages)
    options = check_options(partitioning_options)
    if not isinstance(read_input_output_mesh_from_shardings, bool):
        raise ValueError(
            "read_input_output_mesh_from_shardings must be a bool, got "
            f"{read_input_output_mesh_from_shardings!r}"
        )
    _check_tree("input_mesh_assignment", input_mesh_assignment, meshes)
    _check_tree("output_mesh_assignment", output_mesh_assignment, meshes)
    labels = Labels(places, stages)
    schedule, schedule_rules = _check_schedule(
        pipeline_schedule, fragment_schedule_rules, options, meshes, labels
    )
    return Config(
        topology=meshes,
        places=places,
        stages=stages,
        input_mesh_assignment=input_mesh_assignment,
        output_mesh_assignment=output_mesh_assignment,
        partitioning_options=options,
        read_input_output_mesh_from_shardings=read_input_output_mesh_from_shardings,
        pipeline_schedule=schedule,
        fragment_merge_rules=check_merge_rules(
            "fragment_merge_rules", fragment_merge_rules, labels
        ),
        fragment_schedule_rules=schedule_rules,
    )


def _check_assignment(
    assignment: object, topology: dict[str, Mesh]
) -> tuple[dict[str, Place], dict[str, int]]:
    if not isinstance(assignment, Mapping):
        raise ValueError(
            f"name_to_mesh_assignment must be a dict of labels to meshes, got {assignment!r}"
        )
    places: dict[str, Place] = {}
    stages: dict[str, int] = {}
    for label, value in assignment.items():
        key = f"name_to_mesh_assignment[{label!r}]"
        try:
            check_label(label)
        except ValueError as error:
            raise ValueError(f"name_to_mesh_assignment: {error}") from None
        if isinstance(value, tuple):
            if len(value) != 2:
                raise ValueError(f"{key} must be a mesh or a pair (mesh, stage), got {value!r}")
            value, stages[label] = value[0], _check_stage(value[1], key)
        places[label] = parse_place(value, topology, key)
    return places, stages


def _check_stages(
    assignment: object, places: dict[str, Place], stages: dict[str, int]
) -> dict[str, int]:
    if assignment is None:
        assignment = {}
    if not isinstance(assignment, Mapping):
        raise ValueError(
            f"name_to_stage_assignment must be a dict of labels to stages, got {assignment!r}"
        )
    stages = dict(stages)
    for label, value in assignment.items():
        key = f"name_to_stage_assignment[{label!r}]"
        if not isinstance(label, str) or label not in places:
            raise ValueError(
                f"{key}: this label has no mesh in name_to_mesh_assignment, which has "
                f"{', '.join(map(repr, places)) or 'no labels'}"
            )
        stage = _check_stage(value, key)
        if stages.setdefault(label, stage) != stage:
            raise ValueError(
                f"{key} is {stage}, but name_to_mesh_assignment puts it in {stages[label]}"
            )
    owners: dict[int, str] = {}
    for label, stage in stages.items():
        other = owners.setdefault(stage, label)
        if places[other].mesh != places[label].mesh:
            raise ValueError(
                f"name_to_stage_assignment: stage {stage} is on two meshes: the label {other!r} is "
                f"on {places[other].mesh!r} and {label!r} on {places[label].mesh!r}"
            )
    return stages


def _check_stage(stage: object, key: str) -> int:
    if not isinstance(stage, int) or isinstance(stage, bool) or not 0 <= stage < 2**63:
        raise ValueError(f"{key}: a stage must be an integer >= 0, got {stage!r}")
    return stage


def _check_tree(key: str, tree: Any, topology: dict[str, Mesh]) -> None:
    try:
        leaves = jax.tree_util.tree_leaves_with_path(tree)
    except Exception as error:  # a tree whose keys cannot be sorted, say
        raise ValueError(f"{key} is not a tree of mesh names: {error}") from None
    for path, leaf in leaves:
        parse_place(leaf, topology, f"{key}{jax.tree_util.keystr(path)}")


def _check_schedule(
    schedule: Any,
    rules: object,
    options: dict[str, bool | str],
    topology: dict[str, Mesh],
    labels: Labels,
) -> tuple[PipelineSchedule, tuple[FragmentScheduleRule, ...]]:
    """Returns the schedule and the rules, one of which is given at most."""
    by_option = options.get("mpmd_pipeline_schedule")
    if schedule is None:
        checked = check_schedule_rules("fragment_schedule_rules", rules, labels)
        if by_option is None:
            return None, checked
        return check_schedule(by_option, list(topology), labels.places, labels.stages), checked
    if by_option is not None and not (isinstance(schedule, str) and schedule == by_option):
        raise ValueError(
            f"pipeline_schedule is {schedule!r}, but partitioning_options has "
            f"mpmd_pipeline_schedule={by_option!r}: give one of them"
        )
    if rules:
        raise ValueError(
            "pipeline_schedule and fragment_schedule_rules both say what runs first: give one"
        )
    if is_rules(schedule):
        return None, check_schedule_rules(KEY, schedule, labels)
    return check_schedule(schedule, list(topology), labels.places, labels.stages), ()
