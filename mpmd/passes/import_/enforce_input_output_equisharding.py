"""Outputs that come back as inputs look the same as these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.functions import (
    entry_block,
    is_entry_point,
    update_function_type,
)
from mpmd.passes.base import FunctionPass, option
from mpmd.passes.import_._constraints import (
    Constraints,
    check,
    format_constraints,
    parse_constraints,
)
from mpmd.passes.import_._edits import transfer


@dataclass(frozen=True)
class EnforceInputOutputEquisharding(FunctionPass):
    """Transfers an output to the mesh, sharding and memory kind of the input that it is tied to.

    So the output of one step can be the input of the next.

        func.func @main(%arg0: !m1) -> !m2 { ... return %0 : !m2 }     (0:0)
      ~~>
        func.func @main(%arg0: !m1) -> !m1 { ... %1 = mpmd.transfer %0 : (!m2) -> !m1  return %1 }

    Looks at the entry point, where all values have a mesh.
    """

    name: ClassVar[str] = "mpmd-enforce-input-output-equisharding"
    constraints: Constraints = option(
        (),
        "Comma-separated INPUT:OUTPUT pairs of numbers that get the same type.",
        parse=parse_constraints,
        format=format_constraints,
    )

    def applies_to(self, func: ir.Operation) -> bool:
        return bool(self.constraints) and is_entry_point(func)

    def run_on_function(self, func: ir.Operation) -> None:
        check(func, self.constraints)
        block = entry_block(func)
        ip = ir.InsertionPoint.at_block_terminator(block)
        last = ip.ref_operation.operation
        for source, target in self.constraints:
            type_, value = block.arguments[source].type, last.operands[target]
            if value.type != type_:
                last.operands[target] = transfer(value, type_, ip, value.location)
        update_function_type(func)
