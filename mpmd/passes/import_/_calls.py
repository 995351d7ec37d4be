"""Changes the operands and results of calls and of their callee together."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.functions import (
    argument_attributes,
    entry_block,
    set_argument_attributes,
    terminator,
    update_function_type,
)


def drop_arguments(callee: ir.Operation, numbers: Collection[int]) -> None:
    """Removes unused arguments, with their attributes, from a function; its calls must follow."""
    attributes = argument_attributes(callee)
    block = entry_block(callee)
    for number in sorted(numbers, reverse=True):
        block.erase_argument(number)
    update_function_type(callee)
    kept = [each for number, each in enumerate(attributes) if number not in numbers]
    set_argument_attributes(callee, kept)


def drop_results(callee: ir.Operation, numbers: Collection[int]) -> None:
    """Removes results, with their attributes, from a function; its calls must follow."""
    attributes = argument_attributes(callee, "res_attrs")
    last = terminator(entry_block(callee))
    returned = [value for number, value in enumerate(last.operands) if number not in numbers]
    ir.Operation.create(
        "func.return", operands=returned, ip=ir.InsertionPoint(last), loc=last.location
    )
    last.erase()
    update_function_type(callee)
    kept = [each for number, each in enumerate(attributes) if number not in numbers]
    set_argument_attributes(callee, kept, "res_attrs")


def rebuild_call(
    call: ir.Operation, operands: Sequence[ir.Value], dropped_results: Collection[int] = ()
) -> ir.Operation:
    """Replaces `call` by one with other operands, without results that nothing uses any more."""
    kept = [result for n, result in enumerate(call.results) if n not in dropped_results]
    new = ir.Operation.create(
        call.name,
        results=[result.type for result in kept],
        operands=list(operands),
        attributes=dict(call.attributes.items()),
        ip=ir.InsertionPoint(call),
        loc=call.location,
    )
    for old, result in zip(kept, new.results, strict=True):
        old.replace_all_uses_with(result)
    call.erase()
    return new
