"""mpmd-mark-fragment-reserved-memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import MeshShape, i64, read_mesh_tensor
from mpmd.dialect.donation import is_donated
from mpmd.dialect.fragment import CALL, REGION, Fragment
from mpmd.dialect.functions import argument_attributes, entry_block, topology_of
from mpmd.dialect.shardings import local_elements, sharding_of_type
from mpmd.passes.base import FunctionPass
from mpmd.passes.export._failures import fail_or_warn
from mpmd.passes.export._programs import RESERVED_BYTES
from mpmd.passes.export._value_attributes import ARG, RES, is_on_host, on_host


@dataclass(frozen=True)
class MarkFragmentReservedMemory(FunctionPass):
    """Marks fragments with the memory that values which they do not use take on each device.

    While a fragment runs, its mesh also holds the values that later fragments need. The compiler of
    the fragment must leave room for them: `reserved_hbm_bytes`.

        %1 = fragment f (%0)          // reserved_hbm_bytes = 0
        %2 = fragment g (%0)          // reserved_hbm_bytes = size of %1
        %3 = fragment h (%1, %2)      // reserved_hbm_bytes = size of %0, which the caller keeps

    Arguments that the user did not donate live as long as the function. Values in host memory do
    not count, nor do the operands and results of the fragment itself. Fails where the function
    holds anything but fragments and transfers.
    """

    name: ClassVar[str] = "mpmd-mark-fragment-reserved-memory"

    def run_on_function(self, func: ir.Operation) -> None:
        """Walks `func` from its end, where the returned values and its arguments live."""
        block = entry_block(func)
        ops = [op.operation for op in block.operations]
        fail_or_warn([(op, _UNEXPECTED) for op in ops[:-1] if op.name not in _EXPECTED], True)
        live = _Live(topology_of(func) if "topology" in func.attributes else {})
        kept = []
        for argument, attributes in zip(block.arguments, argument_attributes(func), strict=True):
            if is_on_host(attributes):
                live.ignore(argument)
            elif not is_donated(attributes):
                kept.append(argument)
        for op in ops:
            _ignore_host_values(op, live)
        live.add(kept)
        live.add(list(ops[-1].operands))
        for op in reversed(ops[:-1]):
            live.remove(list(op.results))
            operands = list(op.operands)
            fragment = Fragment.of(op)
            if fragment is not None:
                reserved = live.bytes_without(fragment.mesh, operands)
                op.attributes[RESERVED_BYTES] = i64(reserved)
            live.add(operands)


def _ignore_host_values(op: ir.Operation, live: _Live) -> None:
    for which, values in ((ARG, op.operands), (RES, op.results)):
        for number in on_host(op, which):
            live.ignore(values[number])


_EXPECTED = (REGION, CALL, "mpmd.transfer")
_UNEXPECTED = (
    "Expected only TransferOp, FragmentOp, FragmentCallOp and ReturnOp in the function body."
)


class _Live:
    """The values that are live at a point of the walk, and what they take on each mesh."""

    def __init__(self, topology: dict[str, MeshShape]) -> None:
        self._axes = {mesh: dict(shape.axes) for mesh, shape in topology.items()}
        self._sizes: dict[ir.Type, tuple[str, int]] = {}
        self._values: dict[ir.Value, tuple[str, int]] = {}
        self._ignored: set[ir.Value] = set()
        self._bits: dict[str, int] = {}

    def ignore(self, value: ir.Value) -> None:
        """Leaves `value` out: it is not in the memory of the device."""
        self._ignored.add(value)

    def add(self, values: Sequence[ir.Value]) -> None:
        """Makes values live."""
        for value in values:
            if value not in self._values and value not in self._ignored:
                mesh, bits = self._values[value] = self._size(value.type)
                self._bits[mesh] = self._bits.get(mesh, 0) + bits

    def remove(self, values: Sequence[ir.Value]) -> None:
        """Ends the life of values, where they were live."""
        for value in values:
            size = self._values.pop(value, None)
            if size is not None:
                mesh, bits = size
                self._bits[mesh] -= bits

    def bytes_without(self, mesh: str, operands: Sequence[ir.Value]) -> int:
        """Returns what all live values but `operands` take on each device of `mesh`."""
        live = (self._values.get(each) for each in set(operands))
        own = sum(size[1] for size in live if size is not None)
        return -(-(self._bits.get(mesh, 0) - own) // 8)

    def _size(self, type_: ir.Type) -> tuple[str, int]:
        """Returns the mesh and the number of bits on each of its devices."""
        found = self._sizes.get(type_)
        if found is None:
            found = self._sizes[type_] = self._measure(type_)
        return found

    def _measure(self, type_: ir.Type) -> tuple[str, int]:
        parts = read_mesh_tensor(type_)
        if parts is None or "host" in (parts.memory_kind or ""):
            return "", 0
        tensor = ir.RankedTensorType(parts.tensor)
        axes = self._axes.get(parts.mesh, {})
        elements = local_elements(sharding_of_type(type_), tensor.shape, axes)
        return parts.mesh, elements * _bits(tensor.element_type)


def _bits(element: ir.Type) -> int:
    if isinstance(element, ir.ComplexType):
        return 2 * _bits(element.element_type)
    if isinstance(element, ir.IntegerType | ir.FloatType):
        return element.width
    return 0
