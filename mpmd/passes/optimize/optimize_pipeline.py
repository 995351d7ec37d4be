"""The pipeline `mpmd-optimize-pipeline`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from mpmd.passes.base import Pass, Pipeline, option
from mpmd.passes.common.absorb_inferred_fragments import AbsorbInferredFragments
from mpmd.passes.common.merge_inferred_fragments import MergeInferredFragments
from mpmd.passes.common.outline_fragments import OutlineFragments
from mpmd.passes.optimize._rules import (
    FragmentMergeRule,
    FragmentScheduleRule,
    parse_merge_rules,
    parse_schedule_rules,
)
from mpmd.passes.optimize.merge_forward_with_backward import MergeForwardWithBackward
from mpmd.passes.optimize.pipeline_scheduler import PipelineScheduler, parse_on_cycle
from mpmd.passes.optimize.remat_fragment import RematFragment
from mpmd.passes.optimize.rule_based_merge import RuleBasedMerge
from mpmd.passes.optimize.rule_based_schedule import RuleBasedSchedule
from mpmd.passes.optimize.verify_stage_merging import VerifyStageMerging


def _scheduler(
    schedule: str, remove_control_dependencies: bool, on_cycle: str
) -> PipelineScheduler:
    """Returns the scheduler for the name of a schedule, or for a table; raises OptionError."""
    order = schedule if schedule.startswith("table:") else f"builtin:{schedule}"
    checked = PipelineScheduler.parse({"must-happen-before": order, "on-cycle": on_cycle})
    return replace(checked, remove_control_dependencies=remove_control_dependencies)


def _parse_schedule(text: str) -> str:
    """Checks the name of a schedule; raises ValueError."""
    _scheduler(text, True, "fail")
    return text


def _join(rules: tuple[object, ...]) -> str:
    return ",".join(map(str, rules))


@dataclass(frozen=True)
class OptimizePipeline(Pipeline):
    """Orders an imported program by its schedule and merges what should run as one fragment.

    Requires what mpmd-import-pipeline makes: one flat entry function of fragments and transfers.
    """

    name: ClassVar[str] = "mpmd-optimize-pipeline"

    pipeline_schedule: str = option(
        "1F1B",
        "The name of the schedule, 'none', or 'table:' and the tasks of each mesh.",
        parse=_parse_schedule,
    )
    on_cycle: str = option(
        "fail",
        "Where the data contradict the schedule: 'fail', 'relax' or 'skip', see "
        "mpmd-pipeline-scheduler.",
        parse=parse_on_cycle,
    )
    merge_after_scheduling: bool = option(
        False, "Merge inferred fragments here, after scheduling, instead of on import."
    )
    absorb_on_entry_point_function: bool = option(
        False, "With merge-after-scheduling, let user fragments absorb inferred ones."
    )
    fragment_remat: bool = option(
        False, "Compute forward fragments again right before their backward fragments."
    )
    merge_remat_fragments: bool = option(
        False, "With fragment-remat, merge what is computed again with the backward fragment."
    )
    merge_forward_with_backward: bool = option(
        False, "Merge a forward fragment with its backward where the mesh runs them in a row."
    )
    rules: tuple[FragmentMergeRule, ...] = option(
        (),
        "Rules for merging: FragmentMergeRule(sources=[...],target=...), separated by commas.",
        parse=parse_merge_rules,
        format=_join,
    )
    schedule_rules: tuple[FragmentScheduleRule, ...] = option(
        (),
        "Rules for the order, instead of a schedule: FragmentScheduleRule(ordered_fragments=[]).",
        parse=parse_schedule_rules,
        format=_join,
    )
    outline_bodies: bool = option(
        False, "Turn region fragments into calls of shared functions first."
    )

    def passes(self) -> list[Pass]:
        return [
            # First, so that everything after it handles each body once.
            *([OutlineFragments()] if self.outline_bodies else []),
            *self._order(),
            # Before stages are verified: copies carry a mark that tells them from their originals.
            *([RematFragment(self.merge_remat_fragments)] if self.fragment_remat else []),
            # While fragments still are what the schedule ordered.
            VerifyStageMerging(),
            *(self._merge() if self.merge_after_scheduling else []),
            # Last: nothing else may look at a fragment that is neither forward nor backward.
            *([MergeForwardWithBackward()] if self.merge_forward_with_backward else []),
        ]

    def _order(self) -> list[Pass]:
        # Rules for merging need the order that scheduling found: they drop it themselves.
        done = not self.rules
        order: Pass = (
            RuleBasedSchedule(self.schedule_rules, done)
            if self.schedule_rules
            else _scheduler(self.pipeline_schedule, done, self.on_cycle)
        )
        return [order, *([RuleBasedMerge(self.rules)] if self.rules else [])]

    def _merge(self) -> list[Pass]:
        return [
            # Into the computation that they serve first, then into whatever is next to them.
            AbsorbInferredFragments(self.absorb_on_entry_point_function),
            MergeInferredFragments(merge_any_consumer=True),
            MergeInferredFragments(merge_sideways=True),
        ]
