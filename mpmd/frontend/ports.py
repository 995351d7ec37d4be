"""Fits the operation that a label or call becomes to the equation that it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from jax.extend.mlir import ir


class Ports(NamedTuple):
    """How an equation's values map to the operands and results of its operation.

    What moves data for nothing is left out: operands that the body does not read, results that are
    just an operand, and results that are given twice.
    """

    operands: list[int]  # which values of the equation are operands
    returned: list[int]  # which results of the body the operation returns
    results: list[
        tuple[bool, int]
    ]  # for each of the equation: (is operand, its index) or the result's

    def of(self, operands: Sequence[Any], results: Sequence[Any]) -> list[Any]:
        """The equation's results, from its operands and the operation's results."""
        return [operands[i] if is_operand else results[i] for is_operand, i in self.results]


def connect(block: ir.Block, values: Sequence[ir.Value]) -> Ports:
    """Finds the ports of a body that returns the values; drops block arguments it does not read."""
    arguments: dict[Any, int] = {argument: i for i, argument in enumerate(block.arguments)}
    returned: list[int] = []
    results: list[tuple[bool, int]] = []
    known: dict[ir.Value, int] = {}
    for i, value in enumerate(values):
        if value in arguments:
            results.append((True, arguments[value]))
            continue
        if value not in known:
            known[value] = len(returned)
            returned.append(i)
        results.append((False, known[value]))
    operands = [i for i, argument in enumerate(block.arguments) if any(True for _ in argument.uses)]
    for i in reversed(range(len(block.arguments))):
        if i not in operands:
            block.erase_argument(i)
    return Ports(operands, returned, results)
