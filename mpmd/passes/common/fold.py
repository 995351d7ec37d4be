"""The pass `mpmd-fold`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.fragment import erase_dead
from mpmd.passes.base import Pass
from mpmd.passes.common._folding import RULES


@dataclass(frozen=True)
class Fold(Pass):
    """Folds operations that constants, or the operation before, make unnecessary.

    Unrolling a loop makes its index a constant, and taking microbatches out of a batch leaves
    slices of what was just put together. What is folded before meshes are assigned needs none:

        %0 = concatenate %a, %b                   select(false, x, y)        is y
        %1 = slice %0 [0:1]            ~~>        x + 0, x - 0, x * 1        is x
        use %1                 use %a             reshape(reshape(x))        is reshape(x)

    Also arithmetic on constants and comparison of their integers, dynamic slices at constant
    indices, chains of transposes, and broadcast or moved constants, which are then made wherever
    they are used. Sums with a zero may come out as -0.0 where they were 0.0, as they do in XLA.
    Removes what is unused in the end.
    """

    name: ClassVar[str] = "mpmd-fold"

    def run(self, module: ir.Operation) -> None:
        for op in module.regions[0].blocks[0].operations:
            for region in op.operation.regions:
                for block in region.blocks:
                    _fold_in(block)
                    erase_dead(block)


def _fold_in(block: ir.Block) -> None:
    """Applies the rules to every operation of a block, first to last, nested ones too."""
    for op in list(block.operations):
        operation = op.operation
        rule = RULES.get(operation.name)
        if rule is not None:
            value = rule(operation)
            if value is not None:
                operation.results[0].replace_all_uses_with(value)
            continue
        for region in operation.regions:
            for nested in region.blocks:
                _fold_in(nested)
