"""Checks rules over fragments against the configuration that they are part of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from mpmd.frontend.rules import FragmentInfo, FragmentMergeRule, FragmentScheduleRule
from mpmd.frontend.topology import Place


@dataclass(frozen=True)
class Labels:
    """What a configuration knows of its labels."""

    places: Mapping[str, Place]
    stages: Mapping[str, int]

    def complete(self, info: FragmentInfo, where: str) -> FragmentInfo:
        """Returns the identity that a fragment will have, with its stage; raises ValueError."""
        for origin in info.origins:
            label = origin.computation_name
            if label not in self.places:
                raise ValueError(
                    f"{where} names {label!r}, which is no label; the labels are "
                    f"{', '.join(map(repr, self.places)) or 'none'}"
                )
            mesh, stage = self.places[label].mesh, self.stages.get(label)
            if info.mesh_name != mesh:
                raise ValueError(
                    f"{where} has the label {label!r} on mesh {info.mesh_name!r}, but "
                    f"name_to_mesh_assignment puts it on {mesh!r}"
                )
            if info.stage_id not in (None, stage):
                has = "no stage" if stage is None else f"stage {stage}"
                raise ValueError(
                    f"{where} has the label {label!r} in stage {info.stage_id}, but it has {has}"
                )
        known = {self.stages.get(origin.computation_name) for origin in info.origins}
        if len(known) != 1:
            return info
        return FragmentInfo(
            info.origins,
            mesh_name=info.mesh_name,
            stage_id=known.pop(),
            call_counter=info.call_counter,
            split_type=info.split_type,
        )


def check_schedule_rules(
    key: str, rules: object, labels: Labels
) -> tuple[FragmentScheduleRule, ...]:
    """Refuses unknown labels, wrong meshes and stages, and rules that contradict each other."""
    checked = []
    for number, rule in enumerate(_rules(key, rules, FragmentScheduleRule)):
        where = f"{key}[{number}]"
        infos = [labels.complete(info, where) for info in rule.ordered_fragments]
        _check_one_mesh(where, infos)
        checked.append(FragmentScheduleRule(infos))
    _check_no_circle(key, checked)
    return tuple(checked)


def check_merge_rules(key: str, rules: object, labels: Labels) -> tuple[FragmentMergeRule, ...]:
    """Refuses unknown labels, and wrong meshes and stages."""
    checked = []
    for number, rule in enumerate(_rules(key, rules, FragmentMergeRule)):
        where = f"{key}[{number}]"
        sources = [labels.complete(info, where) for info in rule.sources]
        labels.complete(rule.target, where)
        _check_one_mesh(where, [*sources, rule.target])
        checked.append(FragmentMergeRule(sources, rule.target))
    return tuple(checked)


def _rules(key: str, rules: object, kind: type) -> Sequence:
    if not isinstance(rules, (list, tuple)) or not all(isinstance(rule, kind) for rule in rules):
        raise ValueError(f"{key} must be a list of {kind.__name__}, got {rules!r}")
    return rules


def _check_one_mesh(where: str, infos: Sequence[FragmentInfo]) -> None:
    meshes = dict.fromkeys(info.mesh_name for info in infos)
    if len(meshes) > 1:
        raise ValueError(
            f"{where} is about fragments of one mesh, but names {', '.join(map(repr, meshes))}"
        )


def _check_no_circle(key: str, rules: Sequence[FragmentScheduleRule]) -> None:
    """Refuses an order that no program can have."""
    after: dict[FragmentInfo, list[FragmentInfo]] = {}
    waits: dict[FragmentInfo, int] = {}
    for rule in rules:
        for one, two in pairwise(rule.ordered_fragments):
            after.setdefault(one, []).append(two)
            waits[two] = waits.get(two, 0) + 1
            waits.setdefault(one, 0)
    ready = [info for info, number in waits.items() if not number]
    while ready:
        info = ready.pop()
        del waits[info]
        for later in after.get(info, ()):
            waits[later] -= 1
            if not waits[later]:
                ready.append(later)
    if not waits:
        return
    before = {later: info for info in waits for later in after.get(info, ()) if later in waits}
    info = next(iter(before))
    circle: list[FragmentInfo] = []
    while info not in circle:
        circle.append(info)
        info = before[info]
    circle = [*circle[circle.index(info) :], info][::-1]
    raise ValueError(f"{key} is contradictory: {' -> '.join(map(str, circle))}")
