"""mpmd-sink-create-token-into-fragments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.functions import entry_block, terminator
from mpmd.passes.base import FunctionPass, PassFailure

_TOKEN = "!stablehlo.token"


@dataclass(frozen=True)
class SinkCreateTokenIntoFragments(FunctionPass):
    """Makes the tokens that fragments take inside the fragments.

    A token orders effects within one program; between programs the schedule does. Tokens that such
    a fragment returns are dropped.

        %t = stablehlo.create_token
        %1 = mpmd.fragment<mesh="m", origin=["f"]> (%t, %0) (%token, %a) {...}
        ~~>
        %1 = mpmd.fragment<mesh="m", origin=["f"]> (%0) (%a) { %token = stablehlo.create_token ... }
    """

    name: ClassVar[str] = "mpmd-sink-create-token-into-fragments"

    def run_on_function(self, func: ir.Operation) -> None:
        """Sinks the tokens that fragments of `func` take."""
        for op in list(entry_block(func).operations):
            operation = op.operation
            if operation.name == "mpmd.fragment":
                tokens = [n for n, v in enumerate(operation.operands) if _is_token(v)]
                if tokens:
                    _sink(operation, tokens)


def _is_token(value: ir.Value) -> bool:
    return str(value.type) == _TOKEN


def _sink(fragment: ir.Operation, tokens: list[int]) -> None:
    """Replaces a fragment by one that takes no tokens and returns none."""
    body = fragment.regions[0].blocks[0]
    first = ir.InsertionPoint.at_block_begin(body)
    for number in tokens:
        made = ir.Operation.create(
            "stablehlo.create_token",
            results=[fragment.operands[number].type],
            loc=fragment.location,
            ip=first,
        )
        body.arguments[number].replace_all_uses_with(made.results[0])
    for number in reversed(tokens):
        body.erase_argument(number)
    kept = [result for result in fragment.results if not _is_token(result)]
    for number, result in enumerate(fragment.results):
        if result not in kept and any(True for _ in result.uses):
            raise PassFailure(fragment, f"token result #{number} is used outside of the fragment")
    last = terminator(body)
    returned = [value for value in last.operands if not _is_token(value)]
    ir.Operation.create(last.name, operands=returned, loc=last.location, ip=ir.InsertionPoint(last))
    last.erase()
    new = ir.Operation.create(
        fragment.name,
        results=[result.type for result in kept],
        operands=[value for value in fragment.operands if not _is_token(value)],
        attributes=dict(fragment.attributes.items()),
        regions=1,
        loc=fragment.location,
        ip=ir.InsertionPoint(fragment),
    )
    body.append_to(new.regions[0])
    for old, result in zip(kept, new.results, strict=True):
        old.replace_all_uses_with(result)
    fragment.erase()
