"""The pass `mpmd-simplify-named-computations`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.fragment import erase_dead
from mpmd.dialect.functions import entry_block, terminator
from mpmd.dialect.purity import is_pure
from mpmd.passes.base import FunctionPass

LABEL, BARRIER = "mpmd.named_computation", "stablehlo.optimization_barrier"


@dataclass(frozen=True)
class SimplifyNamedComputations(FunctionPass):
    """Drops the operands and results of labels that are unused, given twice or only pass through.

    Each of them would become a value on the label's mesh: one that passes through would be
    transferred there for nothing.

        %0:3 = mpmd.named_computation<"f"> (%x, %x, %y) (%a, %b, %c) {
          %1 = stablehlo.add %a, %b
          mpmd.return %1, %1, %c
        }
        ~~>
        %0 = mpmd.named_computation<"f"> (%x) (%a) {      // %0#1 is %0 now, %0#2 is %y
          %1 = stablehlo.add %a, %a
          mpmd.return %1
        }

    An argument that goes through a `stablehlo.optimization_barrier` to the return, and nowhere
    else, passes through as well. Unused pure operations go. Nested labels are simplified too.
    """

    name: ClassVar[str] = "mpmd-simplify-named-computations"

    def run_on_function(self, func: ir.Operation) -> None:
        block = entry_block(func)
        # First, so that only what has an effect counts as a use.
        erase_dead(block)
        _redirect_results(block)
        _drop_unused(block)
        _share_operands(block)


def _labels(block: ir.Block) -> list[ir.Operation]:
    return [op.operation for op in block.operations if op.operation.name == LABEL]


def _body(label: ir.Operation) -> ir.Block:
    return label.regions[0].blocks[0]


def _is_used(value: ir.Value) -> bool:
    return any(True for _ in value.uses)


# --- results that are something else ------------------------------------------------------------


def _redirect_results(block: ir.Block) -> None:
    """Makes users of results that pass through, or come twice, use what they stand for.

    Inner labels first: what passes through them may pass through the outer one as well.
    """
    for label in _labels(block):
        _redirect_results(_body(label))
        operands = list(label.operands)
        first_with: dict[ir.Value, ir.Value] = {}
        returned = list(terminator(_body(label)).operands)
        for result, value in zip(list(label.results), returned, strict=True):
            argument = _argument_behind(value)
            if argument is not None:
                result.replace_all_uses_with(operands[argument])
            else:
                first = first_with.setdefault(value, result)
                if first != result:
                    result.replace_all_uses_with(first)


def _argument_behind(value: ir.Value) -> int | None:
    """Returns the number of the argument that a returned value is, or stands for."""
    if isinstance(value, ir.BlockArgument):
        return value.arg_number
    owner = value.owner.operation
    if owner.name != BARRIER or sum(1 for _ in value.uses) != 1:
        return None
    passed = owner.operands[value.result_number]
    return passed.arg_number if isinstance(passed, ir.BlockArgument) else None


# --- results and operands that nothing needs ----------------------------------------------------


def _drop_unused(block: ir.Block) -> None:
    """Erases what is unused in `block`, last to first, so that no unused user keeps a value."""
    for op in reversed([op.operation for op in block.operations][:-1]):
        if op.name == LABEL:
            _drop_unused_of_label(op)
        elif not any(map(_is_used, op.results)) and is_pure(op):
            op.erase()


def _drop_unused_of_label(label: ir.Operation) -> None:
    body = _body(label)
    results = [number for number, result in enumerate(label.results) if _is_used(result)]
    _return_only(body, results)
    _drop_unused(body)
    if not results and all(is_pure(op.operation) for op in list(body.operations)[:-1]):
        label.erase()
        return
    operands = [number for number, argument in enumerate(body.arguments) if _is_used(argument)]
    if len(results) < len(label.results) or len(operands) < len(label.operands):
        _rebuild(label, results, operands)


def _return_only(body: ir.Block, results: Sequence[int]) -> None:
    last = terminator(body)
    returned = list(last.operands)
    if len(results) == len(returned):
        return
    barriers = {
        value.owner.operation
        for value in returned
        if isinstance(value, ir.OpResult) and _argument_behind(value) is not None
    }
    _replace_return(last, [returned[number] for number in results])
    for barrier in barriers:
        _narrow_barrier(barrier)


def _replace_return(last: ir.Operation, values: Sequence[ir.Value]) -> None:
    ip = ir.InsertionPoint(last)
    ir.Operation.create("mpmd.return", operands=list(values), ip=ip, loc=last.location)
    last.erase()


def _narrow_barrier(op: ir.Operation) -> None:
    """Takes what passed through a barrier out of it, which would keep the argument alive."""
    kept = [number for number, result in enumerate(op.results) if _is_used(result)]
    if not kept:
        return
    narrowed = ir.Operation.create(
        BARRIER,
        results=[op.results[number].type for number in kept],
        operands=[op.operands[number] for number in kept],
        attributes=dict(op.attributes.items()),
        ip=ir.InsertionPoint(op),
        loc=op.location,
    )
    for number, result in zip(kept, narrowed.results, strict=True):
        op.results[number].replace_all_uses_with(result)
    op.erase()


# --- operands that come twice -------------------------------------------------------------------


def _share_operands(block: ir.Block) -> None:
    """Makes one argument serve each operand, outer labels first."""
    for label in _labels(block):
        arguments = list(_body(label).arguments)
        first_with: dict[ir.Value, int] = {}
        for number, operand in enumerate(label.operands):
            first = first_with.setdefault(operand, number)
            if first != number:
                arguments[number].replace_all_uses_with(arguments[first])
        _share_operands(_body(label))
        if len(first_with) < len(arguments):
            _rebuild(label, range(len(label.results)), list(first_with.values()))


def _rebuild(label: ir.Operation, results: Sequence[int], operands: Sequence[int]) -> None:
    """Replaces `label` by one with some of its results and operands; moves its body."""
    body, kept = _body(label), frozenset(operands)
    for number in reversed(range(len(label.operands))):
        if number not in kept:
            body.erase_argument(number)
    new = ir.Operation.create(
        LABEL,
        results=[label.results[number].type for number in results],
        operands=[label.operands[number] for number in operands],
        attributes=dict(label.attributes.items()),
        regions=1,
        ip=ir.InsertionPoint(label),
        loc=label.location,
    )
    body.append_to(new.regions[0])
    for number, result in zip(results, new.results, strict=True):
        label.results[number].replace_all_uses_with(result)
    label.erase()
