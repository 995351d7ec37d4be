"""The pass `mpmd-insert-nameless-clone-of-negligible-ops`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.functions import entry_block, terminator
from mpmd.passes.base import FunctionPass
from mpmd.passes.import_._negligible import is_negligible


@dataclass(frozen=True)
class InsertNamelessCloneOfNegligibleOps(FunctionPass):
    """Clones a constant that a label returns to outside the label and uses it there.

    Without that, a constant that happens to be made in a label would be transferred from the
    label's mesh to all its users; a clone without a label is made wherever it is used.

        %0 = mpmd.named_computation<"f"> () { %c = stablehlo.constant ... mpmd.return %c }
        %1 = stablehlo.add %0, %0
        ~~>
        %0 = mpmd.named_computation<"f"> () { %c = stablehlo.constant ... mpmd.return %c }
        %c = stablehlo.constant ...
        %1 = stablehlo.add %c, %c

    What the function returns stays the label's own result. Applies to any operation without
    operands and effects that makes one value.
    """

    name: ClassVar[str] = "mpmd-insert-nameless-clone-of-negligible-ops"

    def run_on_function(self, func: ir.Operation) -> None:
        for label in _labels(entry_block(func)):
            _clone_returned(label)


def _labels(block: ir.Block) -> Iterator[ir.Operation]:
    """Yields the labels in `block`, the nested ones before those that they stand in."""
    for op in list(block.operations):
        if op.operation.name == "mpmd.named_computation":
            yield from _labels(op.operation.regions[0].blocks[0])
            yield op.operation


def _clone_returned(label: ir.Operation) -> None:
    block = label.regions[0].blocks[0]
    ip = ir.InsertionPoint.after(label)
    for number, value in enumerate(terminator(block).operands):
        if not isinstance(value, ir.OpResult) or not is_negligible(value.owner):
            continue
        clone = value.owner.operation.clone(ip).results[0]
        for use in list(label.results[number].uses):
            if use.owner.operation.name != "func.return":
                use.owner.operation.operands[use.operand_number] = clone
