"""mpmd-convert-sdy-constants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.functions import functions
from mpmd.passes.base import Pass


@dataclass(frozen=True)
class ConvertSdyConstants(Pass):
    """Turns `sdy.constant`, which propagation works with, back into `stablehlo.constant`.

        sdy.constant dense<1.0> : tensor<4xf32> ~~> stablehlo.constant dense<1.0> : tensor<4xf32>

    Propagation gives every use of a constant its own copy, in a form that nothing merges.
    """

    name: ClassVar[str] = "mpmd-convert-sdy-constants"

    def run(self, module: ir.Operation) -> None:
        for func in functions(module):
            for constant in _constants(func):
                _convert(constant)


def _constants(func: ir.Operation) -> list[ir.Operation]:
    """Returns the constants to convert; a walk by hand, because a callback per operation costs."""
    found: list[ir.Operation] = []
    regions = list(func.regions)
    while regions:
        for block in regions.pop():
            for op in block.operations:
                operation = op.operation
                if operation.name == "sdy.constant":
                    found.append(operation)
                elif len(operation.regions):
                    regions.extend(operation.regions)
    return found


def _convert(constant: ir.Operation) -> None:
    made = ir.Operation.create(
        "stablehlo.constant",
        results=[constant.results[0].type],
        attributes=dict(constant.attributes.items()),
        ip=ir.InsertionPoint(constant),
        loc=constant.location,
    )
    constant.results[0].replace_all_uses_with(made.results[0])
    constant.erase()
