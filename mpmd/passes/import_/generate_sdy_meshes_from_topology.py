"""The pass `mpmd-generate-sdy-meshes-from-topology`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir, sdy
from mpmd.dialect.attributes import MeshShape, parse_attribute, topology_attribute
from mpmd.dialect.functions import functions, is_entry_point, symbol_name, topology_of
from mpmd.dialect.shardings import is_single_device
from mpmd.passes.base import Pass, PassFailure

EMPTY = "empty_mesh"

# Not all attributes: the bindings cannot read some values of constants.
_WITH_SHARDINGS = (
    "sdy.sharding",
    "sharding",
    "in_shardings",
    "out_shardings",
    "out_sharding",
    "arg_attrs",
    "res_attrs",
)


@dataclass(frozen=True)
class GenerateSdyMeshesFromTopology(Pass):
    """Replaces the `sdy.mesh` operations by one per mesh of the topology.

    Meshes of different shapes need a mesh of their own each to propagate shardings over. Every
    sharding moves to the mesh that has all its axes. Where several have them, the one shaped like
    the sharding's present mesh is taken.

        sdy.mesh @mesh = <["m1_x"=2, "m2_x"=4]>
        func.func @main(%x {sdy.sharding = <@mesh, [{"m2_x"}]>}) attributes {topology = ...}
        ~~>
        sdy.mesh @m1 = <["m1_x"=2]>
        sdy.mesh @m2 = <["m2_x"=4]>
        func.func @main(%x {sdy.sharding = <@m2, [{"m2_x"}]>}) attributes {topology = ...}

    A mesh of one device, as JAX makes it for callbacks to the host, stays, and so do its shardings.
    A sharding without axes fits every mesh. Where the axes are named after their meshes, as above,
    it moves to `@empty_mesh`, which is added to the topology of the entry function. A sharding over
    the axes of two meshes is an error. Types of mesh tensors are left alone.
    """

    name: ClassVar[str] = "mpmd-generate-sdy-meshes-from-topology"

    def run(self, module: ir.Operation) -> None:
        entry = next(filter(is_entry_point, functions(module)), None)
        if entry is None:
            return
        old = {symbol_name(op): op for op in _sdy_meshes(module)}
        meshes = topology_of(entry)
        mover = _Mover(meshes, {name: op.attributes["mesh"] for name, op in old.items()})
        for op in _all_operations(module):
            mover.visit(op)
        for name, op in old.items():
            if name not in mover.maximal:
                op.erase()
        if mover.needs_empty:
            meshes = {**meshes, EMPTY: MeshShape(())}
            entry.attributes["topology"] = topology_attribute(meshes)
        _create_meshes(module, meshes)


def _sdy_meshes(module: ir.Operation) -> list[ir.Operation]:
    block = module.regions[0].blocks[0]
    return [op.operation for op in block.operations if op.operation.name == "sdy.mesh"]


def _all_operations(module: ir.Operation) -> list[ir.Operation]:
    """Returns the functions and all that is in them; not a walk, from which no error can escape."""
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        found.append(op)
        return ir.WalkResult.ADVANCE

    for func in functions(module):
        func.walk(visit)
    return found


def _mesh_attribute(shape: MeshShape) -> ir.Attribute:
    return parse_attribute(f"#sdy.mesh{shape}")


def _create_meshes(module: ir.Operation, meshes: dict[str, MeshShape]) -> None:
    """Puts a `sdy.mesh` per mesh at the start of the module, in order, the empty one first."""
    with ir.InsertionPoint.at_block_begin(module.regions[0].blocks[0]):
        for name, shape in sorted(meshes.items(), key=lambda item: item[0] != EMPTY):
            ir.Operation.create(
                "sdy.mesh",
                attributes={
                    "sym_name": ir.StringAttr.get(name),
                    "mesh": _mesh_attribute(shape),
                },
            )


class _Mover:
    """Moves shardings to the meshes of a topology."""

    def __init__(self, meshes: dict[str, MeshShape], present: dict[str, ir.Attribute]) -> None:
        self.needs_empty = False
        # Such names say that a mesh stands for its axes, so none may be given to what has no axes.
        self._has_own_names = all(
            axis.startswith(f"{name}_") for name, shape in meshes.items() for axis, _ in shape.axes
        )
        self._axes = {name: {axis for axis, _ in shape.axes} for name, shape in meshes.items()}
        self._meshes = {name: _mesh_attribute(shape) for name, shape in meshes.items()}
        self._present = present
        self.maximal = {name for name, mesh in present.items() if is_single_device(mesh)}
        self._moved: dict[ir.Attribute, ir.Attribute] = {}

    def visit(self, op: ir.Operation) -> None:
        """Moves the shardings in the attributes of `op`."""
        attributes = op.attributes
        for name in _WITH_SHARDINGS:
            if name in attributes:
                attributes[name] = self._move(op, attributes[name])

    def _move(self, op: ir.Operation, attribute: ir.Attribute) -> ir.Attribute:
        found = self._moved.get(attribute)
        if found is None:
            found = self._moved[attribute] = self._moved_copy(op, attribute)
        return found

    def _moved_copy(self, op: ir.Operation, attribute: ir.Attribute) -> ir.Attribute:
        def move_all(attributes: Iterable[ir.Attribute]) -> list[ir.Attribute]:
            return [self._move(op, each) for each in attributes]

        if isinstance(attribute, ir.ArrayAttr):
            return ir.ArrayAttr.get(move_all(attribute))
        if isinstance(attribute, ir.DictAttr):
            names = [named.name for named in attribute]
            values = move_all(named.attr for named in attribute)
            return ir.DictAttr.get(dict(zip(names, values, strict=True)))
        if sdy.TensorShardingPerValueAttr.isinstance(attribute):
            shardings = sdy.TensorShardingPerValueAttr(attribute).shardings
            return sdy.TensorShardingPerValueAttr.get(move_all(shardings))
        if sdy.TensorShardingAttr.isinstance(attribute):
            return self._moved_sharding(op, sdy.TensorShardingAttr(attribute))
        return attribute

    def _moved_sharding(self, op: ir.Operation, sharding: sdy.TensorShardingAttr) -> ir.Attribute:
        mesh = sharding.mesh_or_ref
        if isinstance(mesh, ir.FlatSymbolRefAttr) and mesh.value in self.maximal:
            return sharding
        dimensions = list(map(sdy.DimensionShardingAttr, sharding.dimension_shardings))
        axes = {
            sdy.AxisRefAttr(axis).name
            for group in (
                *(each.axes for each in dimensions),
                sharding.replicated_axes,
                sharding.unreduced_axes,
            )
            for axis in group
        }
        return sdy.TensorShardingAttr.get(
            self._mesh_with(op, sharding, axes),
            dimensions,
            sharding.replicated_axes,
            sharding.unreduced_axes,
        )

    def _mesh_with(self, op: ir.Operation, sharding: sdy.TensorShardingAttr, axes: set[str]) -> str:
        if not axes and self._has_own_names:
            self.needs_empty = True
            return EMPTY
        candidates = [name for name, available in self._axes.items() if available >= axes]
        if not candidates:
            names = ", ".join(sorted(axes))
            raise PassFailure(op, f"no mesh of the topology has all the axes {names} of {sharding}")
        mesh = sharding.mesh_or_ref
        if isinstance(mesh, ir.FlatSymbolRefAttr):
            mesh = self._present.get(mesh.value)
        if mesh is None:
            return candidates[0]
        alike = [name for name in candidates if self._meshes[name] == mesh]
        return (alike or candidates)[0]
