"""mpmd-validate-no-param-transfers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import mesh_of, quote
from mpmd.dialect.functions import entry_block
from mpmd.passes.base import FunctionPass, option
from mpmd.passes.export._failures import Fault, fail_or_warn


@dataclass(frozen=True)
class ValidateNoParamTransfers(FunctionPass):
    """Validates that no parameters are transferred between meshes.

    A parameter belongs on the mesh that uses it: an argument of the function that is transferred
    was put on the wrong one, and is sent again in every step. Parameters are the arguments whose
    location, the path that JAX gives them, contains the pattern.
    """

    name: ClassVar[str] = "mpmd-validate-no-param-transfers"

    fail_on_param_transfers: bool = option(
        False, "Fail when a parameter is transferred, instead of warning."
    )
    param_pattern: str = option("", "What the path of an argument contains if it is a parameter.")

    def run_on_function(self, func: ir.Operation) -> None:
        """Checks the transfers of `func`."""
        faults: list[Fault] = []
        for op in entry_block(func).operations:
            operation = op.operation
            if operation.name != "mpmd.transfer":
                continue
            operand = operation.operands[0]
            path = _path(operand)
            if path is not None and self.param_pattern in path:
                source, target = mesh_of(operand), mesh_of(operation.results[0])
                faults.append(
                    (
                        operation,
                        "Detected cross-mesh transfer of a parameter matching"
                        f' {quote(self.param_pattern)} from mesh "{source}" to "{target}".'
                        f' JAX locations: ["{path}"]',
                    )
                )
        fail_or_warn(faults, self.fail_on_param_transfers)


def _path(value: ir.Value) -> str | None:
    """Returns the name in the location of an argument, or None for other values."""
    if not isinstance(value.owner, ir.Block):
        return None
    return value.location.name_str if isinstance(value.location, ir.NameLoc) else None
