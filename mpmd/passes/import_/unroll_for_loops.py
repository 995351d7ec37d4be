"""The pass `mpmd-unroll-for-loops`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import inline_call, ir
from mpmd.dialect.attributes import int_attribute, ui32
from mpmd.dialect.functions import entry_block, terminator
from mpmd.passes.base import FunctionPass

LOOP = "mpmd.for"


@dataclass(frozen=True)
class UnrollForLoops(FunctionPass):
    """Replaces every `mpmd.for` by its iterations, tagged with `unroll_counter`.

    An MPMD program has no loops: every iteration becomes its own sequence of fragments, which a
    schedule can order. That holds whatever the loop's unroll factor says. Operations of a loop in
    a loop count through: the counter of iteration `o` of the outer and `i` of the inner loop is
    `o * inner iterations + i`.

        %0 = mpmd.for (%x) {iterations = 2 : ui32} (%a, %index) {
          %1 = mpmd.call @f(%a, %index)
          mpmd.return %1
        }
        ~~>
        %c0 = stablehlo.constant {unroll_counter = 0 : ui32} dense<0>
        %0 = mpmd.call @f(%x, %c0) {unroll_counter = 0 : ui32}
        %c1 = stablehlo.constant {unroll_counter = 1 : ui32} dense<1>
        %1 = mpmd.call @f(%0, %c1) {unroll_counter = 1 : ui32}

    Note: a loop body is copied once per iteration, so large bodies belong into an `mpmd.call`.
    """

    name: ClassVar[str] = "mpmd-unroll-for-loops"

    def run_on_function(self, func: ir.Operation) -> None:
        # One round per level of nesting: the copies of an inner loop stand where the outer one was.
        while loops := list(_outermost_loops(entry_block(func))):
            for loop in loops:
                _unroll(loop)


def _outermost_loops(block: ir.Block) -> Iterator[ir.Operation]:
    """Yields the loops in `block`, also those in labels, but not those in other loops."""
    for op in list(block.operations):
        if op.operation.name == LOOP:
            yield op.operation
        elif op.operation.name == "mpmd.named_computation":
            yield from _outermost_loops(op.operation.regions[0].blocks[0])


def _unroll(loop: ir.Operation) -> None:
    """Replaces `loop` by its iterations."""
    iterations = int_attribute(loop, "iterations") or 0
    first = (int_attribute(loop, "unroll_counter") or 0) * iterations
    index_type = loop.regions[0].blocks[0].arguments[-1].type
    body = _as_function(loop)
    operations = [op.operation for op in entry_block(body).operations][:-1]
    carried: Sequence[ir.Value] = list(loop.operands)
    with loop.location, ir.InsertionPoint(loop):
        for iteration in range(iterations):
            counter = ui32(first + iteration)
            for op in operations:
                op.attributes["unroll_counter"] = counter
            index = _constant(iteration, index_type, counter)
            carried = inline_call(body, [*carried, index])
    for result, value in zip(list(loop.results), carried, strict=True):
        result.replace_all_uses_with(value)
    body.erase()
    loop.erase()


def _as_function(loop: ir.Operation) -> ir.Operation:
    """Moves the body of `loop` into a detached function, which can be cloned at C++ speed."""
    block = loop.regions[0].blocks[0]
    inputs = [argument.type for argument in block.arguments]
    function = ir.Operation.create(
        "func.func",
        attributes={
            "sym_name": ir.StringAttr.get("body"),
            "function_type": ir.TypeAttr.get(ir.FunctionType.get(inputs, [])),
        },
        regions=1,
    )
    block.append_to(function.regions[0])
    last = terminator(block)
    ir.Operation.create(
        "func.return", operands=list(last.operands), ip=ir.InsertionPoint(last), loc=last.location
    )
    last.erase()
    return function


def _constant(value: int, type_: ir.Type, counter: ir.Attribute) -> ir.Value:
    element = ir.RankedTensorType(type_).element_type
    splat = ir.DenseElementsAttr.get_splat(type_, ir.IntegerAttr.get(element, value))
    attributes = {"value": splat, "unroll_counter": counter}
    return ir.Operation.create("stablehlo.constant", results=[type_], attributes=attributes).result
