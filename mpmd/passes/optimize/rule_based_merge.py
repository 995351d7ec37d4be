"""Merges fragments as the user's rules say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import ui32
from mpmd.dialect.diagnostics import report
from mpmd.dialect.fragment import ARGUMENT, Bodies, Fragment, Wire, compose
from mpmd.dialect.functions import entry_block, functions, is_mpmd_function
from mpmd.passes.base import Pass, PassFailure, option
from mpmd.passes.optimize._fragment_info import SPLIT_TYPES, FragmentInfo, fragments_by_info
from mpmd.passes.optimize._order import Cycle, ProgramOrder
from mpmd.passes.optimize._recorded_order import (
    ORDER,
    forget_order,
    places_attribute,
    places_of,
    require_recorded,
)
from mpmd.passes.optimize._rules import FragmentMergeRule, format_rules, parse_merge_rules


@dataclass(frozen=True)
class RuleBasedMerge(Pass):
    """Merges fragments of a mesh as explicit rules say.

    Each rule names two or more fragments and what they become: origins, stage, call counter and
    split type of the new fragment are those of the target, whatever the sources had. It takes the
    place of the first source, and the program is sorted where that is too early.

        %0 = fragment<"m", ["f"]> ; %1 = fragment<"m", ["h"]> ; %2 = fragment<"m", ["g"]> (%0)
      ~~>
        %0:2 = fragment<"m", ["f", "g"]> ; %1 = fragment<"m", ["h"]>

    Sources that do not exist are left out, and a rule with fewer than two that do is skipped, with
    a warning. A rule can take the target of an earlier one as a source. A merge that would make a
    fragment depend on itself is an error.
    """

    name: ClassVar[str] = "mpmd-rule-based-merge"

    rules: tuple[FragmentMergeRule, ...] = option(
        (),
        "Rules, FragmentMergeRule(sources=[FragmentInfo(...),...],target=FragmentInfo(...)), "
        "separated by commas.",
        parse=parse_merge_rules,
        format=format_rules,
    )
    remove_control_dependencies: bool = option(
        True,
        "Forget, when done, the order that a scheduling pass before left for this one to keep.",
    )

    def run(self, module: ir.Operation) -> None:
        bodies = Bodies(module)
        for func in functions(module):
            if is_mpmd_function(func):
                self._run_on_function(func, bodies)
        bodies.erase_unused()

    def _run_on_function(self, func: ir.Operation, bodies: Bodies) -> None:
        block = entry_block(func)
        if self.rules and _merge_by_rules(func, bodies, self.rules):
            order = ProgramOrder(block)
            require_recorded(order)
            try:
                order.sort()
            except Cycle as cycle:
                raise cycle.failure(func, "merged") from None
        if self.remove_control_dependencies:
            forget_order(block)


def _merge_by_rules(func: ir.Operation, bodies: Bodies, rules: Sequence[FragmentMergeRule]) -> bool:
    ops = [op.operation for op in entry_block(func).operations]
    positions = fragments_by_info(func, ops)
    merged = False
    for rule in rules:
        _require_one_mesh(func, rule)
        sources = [info for info in rule.sources if info in positions]
        missing = [str(info) for info in rule.sources if info not in positions]
        if missing:
            report("warning", func, f"Fragments to merge don't exist: {', '.join(missing)}.")
        if len(sources) < 2:
            continue
        places = sorted(positions.pop(info) for info in dict.fromkeys(sources))
        merged = True
        if rule.target in positions:
            raise PassFailure(
                func, f"Fragment {rule.target} that a merge rule makes exists already"
            )
        new = _merge(bodies, [Fragment(ops[place]) for place in places], rule.target)
        ops[places[0]] = new.op
        positions[rule.target] = places[0]
    return merged


def _require_one_mesh(func: ir.Operation, rule: FragmentMergeRule) -> None:
    meshes = {info.mesh_name for info in (*rule.sources, rule.target)}
    if len(meshes) > 1:
        names = ", ".join(sorted(meshes))
        raise PassFailure(func, f"a merge rule is for one mesh, not for {names}: {rule}")


def _merge(bodies: Bodies, parts: Sequence[Fragment], target: FragmentInfo) -> Fragment:
    """Makes one fragment of `parts`, in their order, at the place of the first."""
    made = {result: (p, i) for p, part in enumerate(parts) for i, result in enumerate(part.results)}
    operands: dict[ir.Value, int] = {}
    wiring: list[list[Wire]] = []
    for part in parts:
        wires: list[Wire] = []
        for value in part.operands:
            if value in made:
                wires.append(made[value])
            else:
                wires.append((ARGUMENT, operands.setdefault(value, len(operands))))
        wiring.append(wires)
    inside = {part.op for part in parts}
    outputs = [
        value for value in made if any(use.owner.operation not in inside for use in value.uses)
    ]
    attributes: dict[str, ir.Attribute] = {}
    if target.call_counter is not None:
        attributes["call_counter"] = ui32(target.call_counter)
    if target.split_type is not None:
        attributes[SPLIT_TYPES[target.split_type]] = ir.UnitAttr.get()
    places = [number for part in parts for number in places_of(part.op)]
    if places:
        attributes[ORDER] = places_attribute(places)
    new = compose(
        bodies,
        parts,
        list(operands),
        wiring,
        [made[value] for value in outputs],
        mesh=target.mesh_name,
        origins=target.origins,
        stage=target.stage,
        attributes=attributes,
        ip=ir.InsertionPoint(parts[0].op),
    )
    for value, result in zip(outputs, new.results, strict=True):
        value.replace_all_uses_with(result)
    for part in reversed(parts):
        part.op.erase()
    return new
