"""The pass `mpmd-remove-transfer-cycles`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import read_mesh_tensor
from mpmd.dialect.functions import entry_block
from mpmd.passes.base import FunctionPass
from mpmd.passes.common._flow import TRANSFER


@dataclass(frozen=True)
class RemoveTransferCycles(FunctionPass):
    """Replaces a transfer back to where a value came from by the value that is already there.

    Follows chains of transfers of any length:

        %1 = transfer %0 : (m0) -> m1                    %1 = transfer %0 : (m0) -> m1
        %2 = transfer %1 : (m1) -> m0         ~~>        use %0
        use %2

    Requires equal types at both ends, shardings included. Never touches a chain that goes through
    host memory: that is how users say that they want a copy to be offloaded.
    """

    name: ClassVar[str] = "mpmd-remove-transfer-cycles"

    def run_on_function(self, func: ir.Operation) -> None:
        transfers = {
            op.results[0]: op.operation
            for op in entry_block(func).operations
            if op.operation.name == TRANSFER
        }
        for result, transfer in reversed(transfers.items()):
            same = _same_value_there(transfer, transfers)
            if same is not None:
                result.replace_all_uses_with(same)
                transfer.erase()


def _same_value_there(
    transfer: ir.Operation, transfers: dict[ir.Value, ir.Operation]
) -> ir.Value | None:
    """Returns the value of the same type that `transfer` goes back to, if there is one."""
    wanted = transfer.results[0].type
    while True:
        source = transfer.operands[0]
        parts = read_mesh_tensor(source.type)
        assert parts is not None
        if parts.memory_kind not in (None, "device"):
            return None
        if source.type == wanted:
            return source
        before = transfers.get(source)
        if before is None:
            return None
        transfer = before
