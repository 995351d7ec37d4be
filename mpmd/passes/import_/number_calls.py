"""The pass `mpmd-number-calls`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import ui32
from mpmd.dialect.functions import callee_name, entry_block, is_entry_point
from mpmd.passes.base import FunctionPass

_COUNTER = "call_counter"


@dataclass(frozen=True)
class NumberCalls(FunctionPass):
    """Numbers the microbatches where the user called a function several times and did not.

    Schedules order microbatches by their number. The n-th call of a function is microbatch n; a
    call that takes results of a call of another function, as a gradient does, is of the same
    microbatch.

        %1 = mpmd.call @f(%x0)              %1 = mpmd.call @f(%x0) {call_counter = 0}
        %2 = mpmd.call @f(%x1)       ~~>    %2 = mpmd.call @f(%x1) {call_counter = 1}
        %3 = mpmd.call @f_grad(%2)          %3 = mpmd.call @f_grad(%2) {call_counter = 1}

    Does nothing in a function where some call has a number, or where none is called twice.
    """

    name: ClassVar[str] = "mpmd-number-calls"

    def applies_to(self, func: ir.Operation) -> bool:
        return is_entry_point(func)

    def run_on_function(self, func: ir.Operation) -> None:
        calls = [
            op.operation for op in entry_block(func).operations if op.operation.name == "mpmd.call"
        ]
        named = Counter(map(callee_name, calls))
        if max(named.values(), default=0) < 2 or any(_COUNTER in op.attributes for op in calls):
            return
        numbers: dict[ir.Value, tuple[str, int]] = {}
        started: Counter[str] = Counter()
        for call in calls:
            callee = callee_name(call)
            sources = (numbers.get(operand) for operand in call.operands)
            # A result of the same function is a sum or a state that goes from one to the next.
            votes = Counter(s[1] for s in sources if s is not None and s[0] != callee)
            if votes:
                number = min(votes, key=lambda each: (-votes[each], each))
            else:
                number = started[callee]
                started[callee] += 1
            call.attributes[_COUNTER] = ui32(number)
            numbers.update((result, (callee, number)) for result in call.results)
