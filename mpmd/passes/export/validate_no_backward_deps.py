"""mpmd-validate-no-backward-deps."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.fragment import Fragment, fragments
from mpmd.dialect.functions import callee_name, entry_block
from mpmd.passes.base import FunctionPass, PassFailure, option
from mpmd.passes.export._failures import Fault, fail_or_warn


@dataclass(frozen=True)
class ValidateNoBackwardDeps(FunctionPass):
    """Validates that in a forward-only program data moves to later meshes only.

    Meshes are ordered by name, numbers in names by value. Data that moves back makes stages wait
    for each other where a pipeline should stream.
    """

    name: ClassVar[str] = "mpmd-validate-no-backward-deps"

    fail_on_backward_deps: bool = option(
        False, "Fail when data moves to an earlier mesh or a fragment is not a forward one."
    )

    def run_on_function(self, func: ir.Operation) -> None:
        """Checks the fragment calls of `func`."""
        calls = [each for each in fragments(entry_block(func)) if each.is_call]
        if any(origin.transpose_count for each in calls for origin in each.origins):
            if self.fail_on_backward_deps:
                raise PassFailure(
                    func, "Expected forward-only program but found non-forward fragments."
                )
            return
        faults: list[Fault] = []
        for consumer in calls:
            for operand in consumer.operands:
                producer = _producer(operand)
                if producer is not None and _key(consumer.mesh) < _key(producer.mesh):
                    faults.append((consumer.op, _message(producer, consumer)))
        fail_or_warn(faults, self.fail_on_backward_deps)


def _producer(value: ir.Value) -> Fragment | None:
    """Returns the fragment call that made `value`, looking through transfers."""
    owner = value.owner
    while not isinstance(owner, ir.Block):
        op = owner.operation
        fragment = Fragment.of(op)
        if fragment is not None:
            return fragment if fragment.is_call else None
        if op.name != "mpmd.transfer":
            return None
        owner = op.operands[0].owner
    return None


def _key(mesh: str) -> list[tuple[int, str]]:
    """Returns what orders meshes: digits compare as numbers, the rest as text."""
    return [
        (int(part), "") if part.isdigit() else (-1, part) for part in re.findall(r"\d+|\D+", mesh)
    ]


def _message(producer: Fragment, consumer: Fragment) -> str:
    return (
        "Detected backward dependency but expected forward-only pipeline since there are no"
        f' transpose fragments: fragment "{callee_name(producer.op)}" mesh="{producer.mesh}"'
        f' produces a value consumed by fragment "{callee_name(consumer.op)}"'
        f' mesh="{consumer.mesh}". In a forward-only pipeline, dependencies must go from earlier'
        " meshes to later meshes."
    )
