"""The pass `mpmd-move-transfers-to-producer`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.functions import entry_block
from mpmd.passes.base import FunctionPass
from mpmd.passes.common._flow import TRANSFER


@dataclass(frozen=True)
class MoveTransfersToProducer(FunctionPass):
    """Moves every transfer right after the operation that makes what it transfers.

    A transfer then starts as early as it can, and whoever orders the fragments has only them to
    order. Transfers of arguments go to the start of the function.

        %1 = fragment<"m0", ["f"]> (%0)                  %1 = fragment<"m0", ["f"]> (%0)
        %2 = fragment<"m0", ["g"]> (%1)       ~~>        %3 = transfer %1 : (m0) -> m1
        %3 = transfer %1 : (m0) -> m1                    %2 = fragment<"m0", ["g"]> (%1)

    Of several transfers with one producer the last one comes first.
    """

    name: ClassVar[str] = "mpmd-move-transfers-to-producer"

    def run_on_function(self, func: ir.Operation) -> None:
        block = entry_block(func)
        for op in list(block.operations):
            transfer = op.operation
            if transfer.name != TRANSFER:
                continue
            producer = transfer.operands[0].owner
            if isinstance(producer, ir.Block):
                transfer.move_before(block.operations[0])
            else:
                transfer.move_after(producer)
