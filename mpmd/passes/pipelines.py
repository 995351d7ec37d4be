"""The whole compiler as one list of passes: from a labelled module to an MPMD program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from mpmd.passes.base import Pass
from mpmd.passes.common.merge_inferred_fragments import MergeInferredFragments
from mpmd.passes.common.move_transfers_to_producer import MoveTransfersToProducer
from mpmd.passes.export.export_pipeline import ExportPipeline
from mpmd.passes.import_._assignment import IndexAssignment, NameAssignment
from mpmd.passes.import_.import_pipeline import ImportPipeline
from mpmd.passes.optimize._happens_before import OrderByPredicate
from mpmd.passes.optimize._rules import parse_merge_rules, parse_schedule_rules
from mpmd.passes.optimize.optimize_pipeline import OptimizePipeline
from mpmd.passes.optimize.pipeline_scheduler import wants_split_backward
from mpmd.passes.partition.sharding_propagation_pipeline import ShardingPropagationPipeline


class Phases(NamedTuple):
    """The compiler in its parts."""

    schedule: list[Pass]
    """After these, fragments are in order, and say which task of the schedule they are."""
    partition: list[Pass]
    export: list[Pass]


def partition(
    *,
    assignment: NameAssignment,
    inputs: IndexAssignment = (),
    outputs: IndexAssignment = (),
    options: Mapping[str, Any] | None = None,
    schedule: str | OrderByPredicate | None = None,
    merge_rules: Sequence[str] = (),
    schedule_rules: Sequence[str] = (),
) -> Phases:
    """Returns the passes that turn a labelled module into a program of fragment calls.

    Args:
      assignment: labels and where they run.
      inputs: argument numbers and where they are; the compiler chooses for the others.
      outputs: the same for results.
      options: `partitioning_options` as `mpmd.make_config` has checked them.
      schedule: a name, `none`, `table:` and the tasks of each mesh separated by bars, or a pass;
        None for 1F1B where the data allow it.
      merge_rules: rules for merging fragments, as text.
      schedule_rules: rules for the order, as text; they replace the schedule.
    """
    get = dict(options or {}).get
    merge_late = get("mpmd_merge_inferred_after_scheduling", False)
    absorb = get("mpmd_absorb_inferred_fragments_on_entry_point_function", False)
    order = []
    if schedule is not None and not isinstance(schedule, str):
        order = [replace(schedule, keeps_order=bool(merge_rules))]
    name = schedule if isinstance(schedule, str) else "none"
    on_cycle = "relax"
    if schedule is None:
        name, on_cycle = "1F1B", "skip"
    merging = parse_merge_rules(",".join(merge_rules))
    ordering = parse_schedule_rules(",".join(schedule_rules))
    # Rules and schedules that know halves of a backward need them; the user can still say no.
    split = (
        any(rule.splits_backward for rule in ordering)
        or any(rule.splits_backward for rule in merging)
        or (not ordering and wants_split_backward(name))
    )
    schedule_passes: list[Pass] = [
        ImportPipeline(
            name_to_mesh_assignment=assignment,
            input_assignment=inputs,
            output_assignment=outputs,
            infer_transfers=get("mpmd_infer_transfers", True),
            infer_cross_mesh_reductions=get("mpmd_infer_cross_mesh_reductions", False),
            absorb_on_entry_point_function=absorb,
            merge_after_scheduling=merge_late,
            split_bwd_fragments=get("mpmd_split_bwd_fragments", split),
            enable_heterogeneous_meshes=not get("mpmd_assume_homogeneous_devices", False),
            accumulate_in_order=True,
            outline_bodies=True,
        ),
        *order,
        OptimizePipeline(
            pipeline_schedule=name,
            on_cycle=on_cycle,
            merge_after_scheduling=merge_late,
            absorb_on_entry_point_function=absorb,
            fragment_remat=get("mpmd_fragment_remat", False),
            merge_remat_fragments=get("mpmd_merge_remat_fragments", False),
            rules=merging,
            schedule_rules=ordering,
            outline_bodies=True,
        ),
    ]
    # Once the order is settled, what was kept apart for its sake may merge.
    remaining = [] if merge_late else _merge_what_remains()
    export = ExportPipeline(
        # What carries no label is the user's program too.
        fail_on_inferred_fragments=False,
        copy_constants=get("mpmd_copy_constant_creation_from_producer_to_consumer", False),
        merge_transfers=get("mpmd_apply_merge_transfers_pass", False),
    )
    return Phases(schedule_passes, [*remaining, ShardingPropagationPipeline()], [export])


def _merge_what_remains() -> list[Pass]:
    # First with what makes their operands, as long as nothing is sent later for it.
    return [
        MergeInferredFragments(keep_transfers_early=True),
        MoveTransfersToProducer(),
        MergeInferredFragments(),
    ]
