"""The pass `mpmd-fragment-dedup`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.fragment import ARGUMENT, Bodies, Fragment, compose
from mpmd.dialect.functions import (
    callee_name,
    entry_block,
    functions,
    is_mpmd_function,
    terminator,
)
from mpmd.passes.base import Pass
from mpmd.passes.common._flow import FOR


@dataclass(frozen=True)
class FragmentDedup(Pass):
    """Makes a fragment use one of several equal operands, and others one of its equal results.

    Afterwards the duplicates are unused, for mpmd-fragment-dce to remove.

        %0:2 = fragment<"m", ["f"]> (%a, %a)             %0:2 = fragment<"m", ["f"]> (%a, %a)
          (%x, %y) {                                       (%x, %y) {
          %1 = add %x, %y                        ~~>       %1 = add %x, %x
          return %1, %1 }                                  return %1, %1 }
        return %0#0, %0#1                                return %0#0, %0#0

    A fragment call gets a function without the duplicates instead. Requires a function whose values
    all live on a mesh. Never looks for equal operations: that is what cse is for.
    """

    name: ClassVar[str] = "mpmd-fragment-dedup"

    def run(self, module: ir.Operation) -> None:
        bodies = Bodies(module)
        for func in functions(module):
            if is_mpmd_function(func):
                _dedup_in(entry_block(func), bodies)
        bodies.erase_unused()


def _dedup_in(block: ir.Block, bodies: Bodies) -> None:
    for op in list(block.operations):
        fragment = Fragment.of(op)
        if fragment is None:
            if op.operation.name == FOR:
                _dedup_in(op.operation.regions[0].blocks[0], bodies)
        elif fragment.is_call:
            _dedup_call(bodies, fragment)
        else:
            _dedup_region(bodies, fragment)


def first_equal(values: Sequence[object]) -> list[int]:
    """Returns for each value the number of the first one that equals it."""
    first: dict[object, int] = {}
    return [first.setdefault(value, number) for number, value in enumerate(values)]


def _dedup_region(bodies: Bodies, fragment: Fragment) -> None:
    block = fragment.body(bodies)
    arguments = list(block.arguments)
    for number, kept in enumerate(first_equal(fragment.operands)):
        if kept != number:
            arguments[number].replace_all_uses_with(arguments[kept])
    results = fragment.results
    for number, kept in enumerate(first_equal(list(terminator(block).operands))):
        if kept != number:
            results[number].replace_all_uses_with(results[kept])


def _dedup_call(bodies: Bodies, fragment: Fragment) -> None:
    operands = fragment.operands
    taken = first_equal(operands)
    returned = _equal_results(bodies, callee_name(fragment.op), tuple(taken))
    if taken == list(range(len(taken))) and returned == list(range(len(returned))):
        return
    inputs, outputs = sorted(set(taken)), sorted(set(returned))
    new = compose(
        bodies,
        [fragment],
        [operands[number] for number in inputs],
        [[(ARGUMENT, inputs.index(number)) for number in taken]],
        [(0, number) for number in outputs],
        mesh=fragment.mesh,
        origins=fragment.origins,
        stage=fragment.stage,
        attributes=fragment.discardable,
        ip=ir.InsertionPoint(fragment.op),
    )
    for result, number in zip(fragment.results, returned, strict=True):
        result.replace_all_uses_with(new.op.results[outputs.index(number)])
    fragment.op.erase()


def _equal_results(bodies: Bodies, function: str, taken: tuple[int, ...]) -> list[int]:
    """Returns which results of a function are equal, where some of its arguments are."""
    key = ("equal results", function, taken)
    found: list[int] | None = bodies.recall(key)
    if found is None:
        block = bodies.function(function).regions[0].blocks[0]
        places = {argument: number for number, argument in enumerate(block.arguments)}
        found = first_equal(
            [
                taken[places[value]] if value in places else value
                for value in terminator(block).operands
            ]
        )
        bodies.remember(key, found)
    return found
