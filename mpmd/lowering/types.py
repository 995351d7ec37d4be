"""The IFRT types of a program's values."""

from __future__ import annotations

from dataclasses import dataclass

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import MeshShape, parse_attribute, quote, read_mesh_tensor
from mpmd.dialect.shardings import sharding_of_type, unreduced_axes
from mpmd.lowering.errors import LoweringError
from mpmd.lowering.sharding import sharding_param


@dataclass(frozen=True)
class Array:
    """A value of the program: its IFRT type, and what decides how it can be transferred."""

    type: ir.Type
    mesh: str
    sharding: str
    memory_kind: str | None


class Arrays:
    """Converts mesh tensors to arrays; every distinct type is converted once.

    The meshes of the topology follow each other on the devices: the first mesh of n devices has
    devices 0 to n - 1, in the order of its `device_ids` where it has any.
    """

    def __init__(self, topology: dict[str, MeshShape]) -> None:
        self._topology = topology
        self._devices: dict[str, list[int]] = {}
        first = 0
        for name, shape in topology.items():
            ids = range(shape.size) if shape.device_ids is None else shape.device_ids
            self._devices[name] = [first + number for number in ids]
            first += shape.size
        self._arrays: dict[ir.Type, Array] = {}

    def devices(self, mesh: str) -> ir.Attribute:
        """Returns the devices of a mesh, as an attribute of calls."""
        return parse_attribute(f"#ifrt<devices{self._devices[mesh]}>")

    def of(self, value: ir.Value) -> Array:
        """Returns the array that `value` becomes."""
        type_ = value.type
        found = self._arrays.get(type_)
        if found is None:
            found = self._arrays[type_] = self._convert(value)
        return found

    def _convert(self, value: ir.Value) -> Array:
        type_ = value.type
        parts = read_mesh_tensor(type_)
        if parts is None:
            raise LoweringError(value.location, f"value of type '{type_}' has no mesh")
        attribute = sharding_of_type(type_)
        partial = unreduced_axes(attribute)
        if partial:
            axes = ", ".join(a.removeprefix("#sdy<axis_ref").removesuffix(">") for a in partial)
            raise LoweringError(
                value.location,
                f"value is a partial sum along {axes} of mesh {quote(parts.mesh)};"
                " only finished sums can leave a fragment",
            )
        rank = ir.RankedTensorType(parts.tensor).rank
        mesh = self._topology.get(parts.mesh)
        if mesh is None:
            known = ", ".join(map(quote, self._topology))
            raise LoweringError(
                value.location, f"mesh {quote(parts.mesh)} is not in the topology: {known}"
            )
        try:
            sharding = str(sharding_param(attribute, rank, mesh))
        except ValueError as error:
            raise LoweringError(value.location, f"value of type '{type_}': {error}") from None
        kind = "" if parts.memory_kind is None else f", memory_kind = {quote(parts.memory_kind)}"
        text = f"!ifrt.array<{parts.tensor}, {sharding}, {self._devices[parts.mesh]}{kind}>"
        return Array(ir.Type.parse(text), parts.mesh, sharding, parts.memory_kind)
