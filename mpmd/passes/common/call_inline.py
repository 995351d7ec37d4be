"""The pass `mpmd-call-inline`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import inline_call, ir
from mpmd.dialect.fragment import CALL, REGION
from mpmd.dialect.functions import callee_name, entry_block, functions, symbol_name
from mpmd.passes.base import Pass
from mpmd.passes.common._flow import FOR, MPMD_CALL


@dataclass(frozen=True)
class CallInline(Pass):
    """Inlines every `mpmd.call`; its attributes, such as the call counter, go onto the fragments.

    What is left is one flat program, in which a schedule can order the microbatches.

        %1 = call @f(%0) {call_counter = 3}     ~~>      %1 = fragment<"m", ["a"]> (%0)
        func @f(%0) {                                           {call_counter = 3}
          %1 = fragment<"m", ["a"]> (%0)
          return %1 }

    The callees stay, for symbol-dce to remove. Fragments that are calls keep sharing their bodies,
    so a microbatch costs what stands at the top level of the callee. Never inlines `func.call`.
    """

    name: ClassVar[str] = "mpmd-call-inline"

    def run(self, module: ir.Operation) -> None:
        callees = {symbol_name(func): func for func in functions(module)}
        for func in callees.values():
            _inline_in(entry_block(func), callees, {})


def _inline_in(block: ir.Block, callees: dict[str, ir.Operation], lengths: dict[str, int]) -> None:
    """Inlines the calls in a block; callees have no calls themselves, says the dialect."""
    # Inlined operations are found by counting, as the bindings do not return them: the attributes
    # that each operation of the block is to get, in order.
    inherited: list[dict[str, ir.Attribute]] = []
    calls = []
    for op in list(block.operations)[:-1]:
        operation = op.operation
        if operation.name == MPMD_CALL:
            calls.append(operation)
            copied = {k: v for k, v in operation.attributes.items() if k != "callee"}
            name = callee_name(operation)
            if name not in lengths:
                lengths[name] = len(list(entry_block(callees[name]).operations)) - 1
            inherited += [copied] * lengths[name]
            continue
        inherited.append({})
        if operation.name == FOR:
            _inline_in(operation.regions[0].blocks[0], callees, lengths)
    if not calls:
        return
    for call in calls:
        with ir.InsertionPoint(call), call.location:
            values = inline_call(callees[callee_name(call)], list(call.operands))
        for result, value in zip(call.results, values, strict=True):
            result.replace_all_uses_with(value)
        call.erase()
    for op, attributes in zip(block.operations, inherited, strict=False):
        if attributes and op.operation.name in (REGION, CALL):
            for key, value in attributes.items():
                op.operation.attributes[key] = value
