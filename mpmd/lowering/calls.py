"""Fragment calls as `ifrt.Call`s."""

from __future__ import annotations

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import parse_attribute
from mpmd.dialect.functions import callee_name
from mpmd.lowering.donation import Donation
from mpmd.lowering.errors import LoweringError
from mpmd.lowering.types import Arrays

Signature = tuple[tuple[ir.Type, ...], tuple[ir.Type, ...]]


class Calls:
    """Lowers fragment calls one after the other, at the insertion point `ip`.

    Calls on a mesh are chained by control dependencies: the order of the program is the order
    in which the mesh runs them, whatever data they wait for.
    """

    def __init__(
        self,
        arrays: Arrays,
        values: dict[ir.Value, ir.Value],
        functions: dict[str, ir.Operation],
        ip: ir.InsertionPoint,
    ) -> None:
        self.signatures: dict[str, Signature] = {}
        """Function -> the mesh tensors that its first call takes and returns."""
        self._arrays = arrays
        self._values = values
        self._functions = functions
        self._ip = ip
        self._donations: dict[str, tuple[Donation, dict[str, ir.Attribute]]] = {}
        """Function -> what its calls consume, also as attributes."""
        self._last_of_mesh: dict[str, ir.Value] = {}
        self._control = ir.Type.parse("!ifrt.control")

    def add(self, op: ir.Operation) -> None:
        """Lowers one fragment call."""
        name = callee_name(op)
        mesh_name = op.attributes["mesh_name"]
        mesh = ir.StringAttr(mesh_name).value
        operands, results = list(op.operands), list(op.results)
        if name not in self.signatures:
            self._remember(op, name)
        donation, donating = self._donations[name]
        unrepeated = donation.without_repeated(operands)
        inputs = [self._values[operand] for operand in operands]
        last = self._last_of_mesh.get(mesh)
        call = ir.Operation.create(
            "ifrt.Call",
            results=[*(self._arrays.of(result).type for result in results), self._control],
            operands=inputs if last is None else [*inputs, last],
            attributes={
                "callee": ir.SymbolRefAttr.get([name, "main"]),
                "devices": self._arrays.devices(mesh),
                "ifrt.mesh_name": mesh_name,
                "operandSegmentSizes": segment_sizes(len(inputs), last is not None),
                **(donating if unrepeated is donation else unrepeated.attributes()),
            },
            loc=op.location,
            ip=self._ip,
        )
        *outputs, self._last_of_mesh[mesh] = call.results
        self._values.update(zip(results, outputs, strict=True))

    def _remember(self, op: ir.Operation, name: str) -> None:
        func = self._functions.get(name)
        if func is None:
            raise LoweringError(op, f"function @{name} has no body to run on a mesh")
        donation = Donation.of(func)
        self._donations[name] = donation, donation.attributes()
        self.signatures[name] = (
            tuple(operand.type for operand in op.operands),
            tuple(result.type for result in op.results),
        )


def segment_sizes(inputs: int, has_control: bool) -> ir.Attribute:
    """Returns how many operands are arrays, and how many control values."""
    return parse_attribute(f"array<i32: {inputs}, {int(has_control)}>")
