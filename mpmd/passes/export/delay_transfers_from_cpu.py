"""mpmd-delay-transfers-from-cpu."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import memo, read_mesh_tensor
from mpmd.dialect.functions import entry_block
from mpmd.passes.base import FunctionPass
from mpmd.passes.export._sinking import sink_to_first_user

_CPU_MESH_SUFFIX = "/cpu"


@dataclass(frozen=True)
class DelayTransfersFromCpu(FunctionPass):
    """Delays transfers from the host to right before their first user.

    An array that waits in host memory costs nothing; on the device it takes memory until used.
    Transfers from the host are those of a value on a mesh named `.../cpu` or with a memory kind of
    the host, to a device.

        %1 = mpmd.transfer %0 : (!mesh_tensor<"m/cpu", ...>) -> !mesh_tensor<"m", ...>
        %2 = fragment f (...)
        %3 = fragment g (%1)
        ~~>
        %2 = fragment f (...)
        %1 = mpmd.transfer %0
        %3 = fragment g (%1)
    """

    name: ClassVar[str] = "mpmd-delay-transfers-from-cpu"

    def run_on_function(self, func: ir.Operation) -> None:
        """Delays the transfers of `func`."""
        for op in list(entry_block(func).operations):
            if _is_from_host(op.operation):
                sink_to_first_user(op.operation)


def _is_from_host(op: ir.Operation) -> bool:
    if op.name != "mpmd.transfer":
        return False
    return _on_host(op.operands[0].type) and not _on_host(op.results[0].type)


def _on_host(type_: ir.Type) -> bool:
    def read() -> tuple[bool]:
        parts = read_mesh_tensor(type_)
        return (
            parts is not None
            and (parts.mesh.endswith(_CPU_MESH_SUFFIX) or "host" in (parts.memory_kind or "")),
        )

    return memo(type_.context, ("on host", type_), read)[0]
