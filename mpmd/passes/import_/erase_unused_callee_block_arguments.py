"""The pass `mpmd-erase-unused-callee-block-arguments`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.functions import (
    calls_by_callee,
    entry_block,
    functions,
    is_mpmd_function,
    is_private,
    symbol_name,
    terminator,
)
from mpmd.dialect.purity import is_pure
from mpmd.passes.base import Pass
from mpmd.passes.import_._calls import drop_arguments, drop_results, rebuild_call


@dataclass(frozen=True)
class EraseUnusedCalleeBlockArguments(Pass):
    """Removes arguments of called functions that at most the function's return uses.

    A value that only passes through a callee says nothing about a mesh, but as an argument it would
    need one. The callers use what they passed instead of what came back.

        %0:2 = mpmd.call @f(%x, %y)          // @f returns (..., its second argument)
        return %0#1
        ~~>
        %0 = mpmd.call @f(%x)
        return %y

    A call that is left without results goes, and the function with it once nothing calls it.
    """

    name: ClassVar[str] = "mpmd-erase-unused-callee-block-arguments"

    def run(self, module: ir.Operation) -> None:
        by_name = {symbol_name(func): func for func in functions(module)}
        for callee, calls in calls_by_callee(module).items():
            if is_mpmd_function(by_name[callee]):
                _erase(by_name[callee], calls)


def _erase(callee: ir.Operation, calls: Sequence[ir.Operation]) -> None:
    passed_through = _passed_through(callee)
    if not passed_through:
        return
    results = {result: number for number, found in passed_through.items() for result in found}
    drop_results(callee, results)
    drop_arguments(callee, passed_through)
    for call in calls:
        # Read late: the operands may have been results of the call before.
        operands = list(call.operands)
        for result, number in results.items():
            call.results[result].replace_all_uses_with(operands[number])
        kept = [value for number, value in enumerate(operands) if number not in passed_through]
        rebuilt = rebuild_call(call, kept, results)
        if _does_nothing(callee):
            rebuilt.erase()
    if _does_nothing(callee) and is_private(callee):
        callee.erase()


def _passed_through(callee: ir.Operation) -> dict[int, list[int]]:
    """Returns the arguments that at most the return uses, with the results that return each."""
    block = entry_block(callee)
    returns = terminator(block)
    found = {}
    for argument in block.arguments:
        uses = list(argument.uses)
        if all(use.owner.operation == returns for use in uses):
            found[argument.arg_number] = [use.operand_number for use in uses]
    return found


def _does_nothing(func: ir.Operation) -> bool:
    """Tells whether `func` returns nothing and has no other effect."""
    *ops, last = entry_block(func).operations
    return not len(last.operation.operands) and all(is_pure(op.operation) for op in ops)
