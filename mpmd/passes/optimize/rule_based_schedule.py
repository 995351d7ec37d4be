"""Orders fragments as the user's rules say."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.diagnostics import report
from mpmd.dialect.functions import entry_block
from mpmd.passes.base import FunctionPass, option
from mpmd.passes.optimize._fragment_info import FragmentInfo, fragments_by_info
from mpmd.passes.optimize._order import Cycle, ProgramOrder
from mpmd.passes.optimize._recorded_order import record_order
from mpmd.passes.optimize._rules import FragmentScheduleRule, format_rules, parse_schedule_rules


@dataclass(frozen=True)
class RuleBasedSchedule(FunctionPass):
    """Orders fragments of a mesh as explicit rules say.

    Each rule names fragments by origins, stage, call counter, split type and mesh, first to last.
    The program is sorted by the rules and the data; what neither concerns stays where it is.

        f(0), g(0), f(1)       rules=FragmentScheduleRule(ordered_fragments=[f(1)->g(0)])
      ~~>
        f(0), f(1), g(0)

    Where one of two neighbours of a rule does not exist, or they are on different meshes, the pair
    is skipped with a warning. Rules that contradict each other or the data are an error.
    """

    name: ClassVar[str] = "mpmd-rule-based-schedule"

    rules: tuple[FragmentScheduleRule, ...] = option(
        (),
        "Rules, FragmentScheduleRule(ordered_fragments=[FragmentInfo(...)->FragmentInfo(...)]), "
        "separated by commas.",
        parse=parse_schedule_rules,
        format=format_rules,
    )
    remove_control_dependencies: bool = option(
        True, "Forget the order when done, instead of leaving it for mpmd-rule-based-merge to keep."
    )

    def run_on_function(self, func: ir.Operation) -> None:
        if not self.rules:
            return
        order = ProgramOrder(entry_block(func))
        positions = fragments_by_info(func, order.ops)
        pairs = [
            [[positions[one]], [positions[two]]]
            for rule in self.rules
            for one, two in pairwise(rule.ordered_fragments)
            if _applies(func, positions, one, two)
        ]
        for pair in pairs:
            order.add_chain(pair)
        try:
            order.sort()
        except Cycle as cycle:
            raise cycle.failure(func, "scheduled") from None
        if not self.remove_control_dependencies:
            record_order(order, pairs)


def _applies(
    func: ir.Operation, positions: dict[FragmentInfo, int], one: FragmentInfo, two: FragmentInfo
) -> bool:
    for info in (one, two):
        if info not in positions:
            report("warning", func, f"Fragment {info} doesn't exist. Skipping this rule.")
            return False
    if one.mesh_name != two.mesh_name:
        report("warning", func, f"Fragments {one} and {two} are on different meshes. Skipping.")
        return False
    return True
