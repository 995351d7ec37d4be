"""The pass `mpmd-sink-negligible-ops-into-call-op`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.fragment import erase_dead
from mpmd.dialect.functions import (
    calls_by_callee,
    entry_block,
    functions,
    is_entry_point,
    is_mpmd_function,
    symbol_name,
)
from mpmd.passes.base import Pass
from mpmd.passes.import_._calls import drop_arguments, rebuild_call
from mpmd.passes.import_._negligible import is_negligible


@dataclass(frozen=True)
class SinkNegligibleOpsIntoCallOp(Pass):
    """Moves operations without operands that feed every call of a function into that function.

    A constant that all calls pass would otherwise tie the argument to the meshes of the constant's
    other uses, and be transferred. Inside the callee it is made wherever it is needed.

        %c = stablehlo.constant dense<1.0>
        %0 = mpmd.call @f(%x, %c)
        %1 = mpmd.call @f(%0, %c)
        ~~>
        %0 = mpmd.call @f(%x)
        %1 = mpmd.call @f(%0)        // @f makes the constant itself

    All calls have to pass the result of one and the same operation. What is unused then goes.
    """

    name: ClassVar[str] = "mpmd-sink-negligible-ops-into-call-op"

    def run(self, module: ir.Operation) -> None:
        by_name = {symbol_name(func): func for func in functions(module)}
        sunk = [
            _sink(by_name[callee], calls)
            for callee, calls in calls_by_callee(module).items()
            if is_mpmd_function(by_name[callee])
        ]
        if any(sunk):
            for func in filter(is_entry_point, by_name.values()):
                erase_dead(entry_block(func))


def _sink(callee: ir.Operation, calls: Sequence[ir.Operation]) -> bool:
    """Returns whether there was something to sink."""
    sunk = _common_makers(calls)
    if not sunk:
        return False
    block = entry_block(callee)
    ip = ir.InsertionPoint.at_block_begin(block)
    for number, op in sunk.items():
        block.arguments[number].replace_all_uses_with(op.clone(ip).results[0])
    drop_arguments(callee, sunk.keys())
    for call in calls:
        rebuild_call(call, [v for number, v in enumerate(call.operands) if number not in sunk])
    return True


def _common_makers(calls: Sequence[ir.Operation]) -> dict[int, ir.Operation]:
    """Returns operand number -> the negligible operation that makes this operand of every call."""
    first, *others = (list(call.operands) for call in calls)
    return {
        number: value.owner.operation
        for number, value in enumerate(first)
        if isinstance(value, ir.OpResult)
        and is_negligible(value.owner)
        and all(operands[number] == value for operands in others)
    }
