"""The pass `mpmd-from-unroll-to-call-counter`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.functions import entry_block
from mpmd.passes.base import FunctionPass


@dataclass(frozen=True)
class FromUnrollToCallCounter(FunctionPass):
    """Renames `unroll_counter` to `call_counter` on `mpmd.call` operations.

    The iteration of the unrolled loop is the microbatch that the call works on, which is what
    schedules go by. A call that carries both keeps the unroll counter.

        mpmd.call @f(%x) {unroll_counter = 3 : ui32}
        ~~>
        mpmd.call @f(%x) {call_counter = 3 : ui32}
    """

    name: ClassVar[str] = "mpmd-from-unroll-to-call-counter"

    def run_on_function(self, func: ir.Operation) -> None:
        for op in entry_block(func).operations:
            if op.operation.name == "mpmd.call" and "unroll_counter" in op.operation.attributes:
                attributes = op.operation.attributes
                attributes["call_counter"] = attributes["unroll_counter"]
                del attributes["unroll_counter"]
