"""mpmd-mark-aliasing-and-donation."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import i32
from mpmd.dialect.donation import ALIASING_OUTPUT, BUFFER_DONOR, is_donated
from mpmd.dialect.fragment import Fragment
from mpmd.dialect.functions import argument_attributes, entry_block
from mpmd.passes.base import FunctionPass
from mpmd.passes.export._value_attributes import (
    ARG,
    LAYOUT_MODE,
    RES,
    Attributes,
    is_on_host,
    joined,
    read,
)

Use = tuple[int, int]
"""(number of the operation in its block, number of the operand)."""


@dataclass(frozen=True)
class MarkAliasingAndDonation(FunctionPass):
    """Marks the operands that a fragment may consume, because it is the last to use them.

    A value that a fragment or a transfer made is aliased with a result of the same type and layout
    where there is one left, and donated otherwise, so that a step needs the memory of its live
    values and no more.

        %1 = mpmd.fragment<mesh="m", origin=["f"]> (%0)
        ~~>
        %1 = mpmd.fragment<mesh="m", origin=["f"]> (%0) {arg_attrs = [{tf.aliasing_output = 0}]}

    An argument of the function is consumed only where the user donated it (`jax.buffer_donor` or
    `tf.aliasing_output`). A value that is returned, or used later, is not consumed; nor is one that
    is transferred, earlier or later: the copy may still be under way.
    """

    name: ClassVar[str] = "mpmd-mark-aliasing-and-donation"

    def run_on_function(self, func: ir.Operation) -> None:
        """Marks the fragments of `func`."""
        block = entry_block(func)
        ops = [op.operation for op in block.operations]
        operands = [list(op.operands) for op in ops]
        last_use: dict[ir.Value, Use] = {
            value: (place, number)
            for place, values in enumerate(operands)
            for number, value in enumerate(values)
        }
        donors, kept = _classify_arguments(func, block)
        known: dict[Hashable, ir.Attribute | None] = {}
        fragments = [Fragment.of(op) is not None for op in ops]
        for is_fragment, values in zip(fragments, operands, strict=True):
            if not is_fragment:
                kept.update(values)
        for place, op in enumerate(ops):
            if not fragments[place]:
                continue
            consumed = [
                value not in kept and last_use[value] == (place, number)
                for number, value in enumerate(operands[place])
            ]
            if any(consumed):
                _mark(op, operands[place], consumed, donors, known)


def _classify_arguments(func: ir.Operation, block: ir.Block) -> tuple[set[ir.Value], set[ir.Value]]:
    """Returns the arguments to donate without an alias, and those to keep."""
    donors: set[ir.Value] = set()
    kept: set[ir.Value] = set()
    for argument, attributes in zip(block.arguments, argument_attributes(func), strict=True):
        if not is_donated(attributes):
            kept.add(argument)
        elif ALIASING_OUTPUT not in attributes:
            donors.add(argument)
    return donors, kept


def _mark(
    op: ir.Operation,
    operands: Sequence[ir.Value],
    consumed: Sequence[bool],
    donors: set[ir.Value],
    known: dict[Hashable, ir.Attribute | None],
) -> None:
    """Writes how `op` consumes its operands; `known` is what was written before, by the reasons."""
    results = [result.type for result in op.results]
    reasons = (
        op.attributes[ARG] if ARG in op.attributes else None,
        op.attributes[RES] if RES in op.attributes else None,
        tuple(results),
        tuple(
            (value.type, value in donors) if is_consumed else None
            for value, is_consumed in zip(operands, consumed, strict=True)
        ),
    )
    if reasons not in known:
        known[reasons] = _marked(op, operands, consumed, donors, results)
    attribute = known[reasons]
    if attribute is not None:
        op.attributes[ARG] = attribute


def _marked(
    op: ir.Operation,
    operands: Sequence[ir.Value],
    consumed: Sequence[bool],
    donors: set[ir.Value],
    results: Sequence[ir.Type],
) -> ir.Attribute | None:
    """Returns the `arg_attrs` that say so; None where there is nothing to add."""
    attributes = read(op, ARG, len(operands))
    free = _Results(results, read(op, RES, len(results)))
    changed = False
    for operand, its, is_consumed in zip(operands, attributes, consumed, strict=True):
        if not is_consumed or is_on_host(its):
            continue
        alias = None if operand in donors else free.take(operand.type, its)
        if alias is None:
            its[BUFFER_DONOR] = ir.BoolAttr.get(True)
        else:
            its[ALIASING_OUTPUT] = i32(alias)
        changed = True
    return joined(attributes) if changed else None


class _Results:
    """The results of a fragment that no operand is aliased with yet."""

    def __init__(self, types: Sequence[ir.Type], attributes: Sequence[Attributes]) -> None:
        self._free: dict[tuple[ir.Type, ir.Attribute | None], list[int]] = {}
        for number, (type_, its) in reversed(list(enumerate(zip(types, attributes, strict=True)))):
            if not is_on_host(its):
                self._free.setdefault((type_, its.get(LAYOUT_MODE)), []).append(number)

    def take(self, type_: ir.Type, attributes: Attributes) -> int | None:
        """Returns the first free result with the type and the layout of an operand."""
        free = self._free.get((type_, attributes.get(LAYOUT_MODE)))
        return free.pop() if free else None
