"""The pass `mpmd-inline-nested-calls`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import inline_call, ir
from mpmd.dialect.functions import (
    callee_name,
    entry_block,
    functions,
    is_mpmd_function,
    symbol_name,
)
from mpmd.passes.base import Pass, PassFailure
from mpmd.passes.import_._nesting import COMPUTATION

CALL, LOOP = "mpmd.call", "mpmd.for"
COUNTER = "call_counter"


@dataclass(frozen=True)
class InlineNestedCalls(Pass):
    """Inlines calls of functions that make calls themselves, so that only the entry function calls.

    The mpmd dialect wants every call of an MPMD function in the entry function. Functions without
    calls keep their bodies to themselves, whatever the depth at which they are called.

        func.func @main { mpmd.call @step(%x) {call_counter = 1 : ui32} }
        func.func @step { mpmd.call @layer(%a)  mpmd.call @layer(%b) }
        ~~>
        func.func @main { mpmd.call @layer(%a) {call_counter = 1 : ui32}  mpmd.call @layer(%b) ... }

    The counter of the outer call, which is the microbatch, replaces that of what it contained.
    Functions that nothing calls any more go. Recursion is an error.

    Requires that no function but the entry function has a topology yet.
    """

    name: ClassVar[str] = "mpmd-inline-nested-calls"

    def run(self, module: ir.Operation) -> None:
        by_name = {symbol_name(func): func for func in functions(module)}
        flattener = _Flattener(by_name)
        for func in by_name.values():
            flattener.flatten(func)
        for name in flattener.inlined:
            by_name[name].erase()


class _Flattener:
    """Inlines callees first, so that what it inlines makes only calls that stay."""

    def __init__(self, by_name: dict[str, ir.Operation]) -> None:
        self.inlined: set[str] = set()
        self._by_name = by_name
        self._calls: dict[str, bool] = {}  # done functions, and whether they make calls

    def flatten(self, func: ir.Operation, called_from: tuple[str, ...] = ()) -> bool:
        """Inlines nested calls in `func`; returns whether it still makes calls."""
        name = symbol_name(func)
        if name not in self._calls:
            calls = list(_calls(entry_block(func)))
            for call in calls:
                self._visit(call, (*called_from, name))
            self._calls[name] = bool(calls)
        return self._calls[name]

    def _visit(self, call: ir.Operation, path: tuple[str, ...]) -> None:
        name = callee_name(call)
        if name in path:
            cycle = " -> ".join(f"@{each}" for each in (*path[path.index(name) :], name))
            raise PassFailure(call, f"mpmd.call is recursive: {cycle}")
        callee = self._by_name[name]
        if self.flatten(callee, path) and not is_mpmd_function(callee):
            _inline(call, callee)
            self.inlined.add(name)


def _calls(block: ir.Block) -> Iterator[ir.Operation]:
    """Yields the calls in `block` and in the loops in it."""
    for op in list(block.operations):
        if op.operation.name == CALL:
            yield op.operation
        elif op.operation.name == LOOP:
            yield from _calls(op.operation.regions[0].blocks[0])


def _inline(call: ir.Operation, callee: ir.Operation) -> None:
    # Cloned into a block of its own first, where the clones are easy to find.
    holder = ir.Operation.create("builtin.module", regions=1, loc=call.location)
    block = holder.regions[0].blocks.append()
    with ir.InsertionPoint(block), call.location:
        values = inline_call(callee, list(call.operands))
    if COUNTER in call.attributes:
        _set_counter(block, call.attributes[COUNTER])
    for op in list(block.operations):
        op.operation.move_before(call)
    for result, value in zip(list(call.results), values, strict=True):
        result.replace_all_uses_with(value)
    call.erase()
    holder.erase()


def _set_counter(block: ir.Block, counter: ir.Attribute) -> None:
    for op in block.operations:
        if op.operation.name in (CALL, COMPUTATION):
            op.operation.attributes[COUNTER] = counter
        elif op.operation.name == LOOP:
            _set_counter(op.operation.regions[0].blocks[0], counter)
