"""The meshes of a topology as Shardy sees them.

Shardy propagates along the axes of one mesh. Where the meshes of a program differ in shape, it is
given one that has all their axes, by name; what it finds is then fitted to each mesh.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mpmd.dialect._jaxlib import ir, sdy
from mpmd.dialect.attributes import MeshShape, memo, parse_attribute, quote
from mpmd.dialect.functions import symbol_name
from mpmd.dialect.shardings import Axes, closed_sharding, split_axes

Sizes = Mapping[str, int]

_REFERENCE = re.compile(r"<@[^,\s]+,")


@dataclass(frozen=True)
class SharedMesh:
    """The mesh in which propagation runs, and how its shardings read on each mesh.

    `symbols` names the `sdy.mesh` of each mesh of the topology. `symbol` is the `sdy.mesh` that
    they all share, or the name of one to be made, where they differ.
    """

    symbol: str
    axes: tuple[tuple[str, int], ...]
    symbols: Mapping[str, str]
    shapes: Mapping[str, MeshShape]

    @property
    def is_uniform(self) -> bool:
        """Whether all meshes are this one."""
        return set(self.symbols.values()) == {self.symbol}

    def shared(self, sharding: ir.Attribute) -> ir.Attribute:
        """Returns `sharding` of any mesh as one of the shared mesh."""
        if self.is_uniform:
            return sharding
        return parse_attribute(_REFERENCE.sub(f"<@{self.symbol},", str(sharding)))

    def fitted(self, sharding: ir.Attribute, mesh: str, shape: Sequence[int]) -> ir.Attribute:
        """Returns `sharding` of the shared mesh as one of `mesh`, on a tensor of `shape`.

        Axes that the mesh does not have, or does not have large enough to be split in parts, or
        that do not divide the tensor evenly there, are dropped.
        """
        if self.is_uniform:
            return sharding
        key = ("fitted", sharding, mesh, self.symbols[mesh], tuple(shape))
        return memo(sharding.context, key, lambda: self._fit(sharding, mesh, shape))

    def _fit(self, sharding: ir.Attribute, mesh: str, shape: Sequence[int]) -> ir.Attribute:
        sizes, shared = dict(self.shapes[mesh].axes), dict(self.axes)
        axes = split_axes(sharding) or ((),) * len(shape)
        names = re.findall(r'"((?:[^"\\]|\\.)*)"', str(sharding))
        if all(sizes.get(name) == shared.get(name) for name in names):
            return parse_attribute(_REFERENCE.sub(f"<@{self.symbols[mesh]},", str(sharding)))
        fitted: Axes = tuple(
            _dividing(each, extent, sizes) for each, extent in zip(axes, shape, strict=True)
        )
        return closed_sharding(self.symbols[mesh], fitted)


def _dividing(
    axes: Sequence[tuple[str, int | None]], extent: int, sizes: Sizes
) -> tuple[tuple[str, None], ...]:
    """Returns the first of `axes` that exist whole in `sizes` and divide `extent` together."""
    kept: list[tuple[str, None]] = []
    for name, part in axes:
        ways = math.prod(sizes[each] for each, _ in kept) * sizes.get(name, 0)
        if part is not None or not ways or extent % ways:
            break
        kept.append((name, None))
    return tuple(kept)


def shared_mesh(module: ir.Operation, shapes: Mapping[str, MeshShape]) -> SharedMesh | None:
    """Returns the mesh in which to propagate; None where the module names no mesh to shard over."""
    known = _sdy_meshes(module)
    if not known:
        return None
    symbols = {name: _symbol_for(name, shape, known) for name, shape in shapes.items()}
    used = set(symbols.values())
    if len(used) == 1:
        symbol = used.pop()
        return SharedMesh(symbol, known[symbol], symbols, shapes)
    symbol = "shared"
    while symbol in known:
        symbol += "_"
    return SharedMesh(symbol, _union([shape.axes for shape in shapes.values()]), symbols, shapes)


def _sdy_meshes(module: ir.Operation) -> dict[str, tuple[tuple[str, int], ...]]:
    meshes = {}
    for op in module.regions[0].blocks[0].operations:
        if op.operation.name == "sdy.mesh":
            axes = sdy.MeshAttr(op.operation.attributes["mesh"]).axes
            parsed = [sdy.MeshAxisAttr(axis) for axis in axes]
            meshes[symbol_name(op.operation)] = tuple((axis.name, axis.size) for axis in parsed)
    return meshes


def _symbol_for(
    name: str, shape: MeshShape, known: Mapping[str, tuple[tuple[str, int], ...]]
) -> str:
    """Returns the `sdy.mesh` of a mesh: by name, by shape, or else the first there is."""
    if name in known:
        return name
    return next((symbol for symbol, axes in known.items() if axes == shape.axes), next(iter(known)))


def _union(meshes: Sequence[tuple[tuple[str, int], ...]]) -> tuple[tuple[str, int], ...]:
    """Returns all axes by name, each with the smallest size above one that a mesh gives it.

    The smallest, because propagation does not split a dimension further than it is long.
    """
    sizes: dict[str, int] = {}
    for axes in meshes:
        for name, size in axes:
            known = sizes.get(name, 1)
            sizes[name] = size if known == 1 else known if size == 1 else min(known, size)
    return tuple(sizes.items())


def create_mesh(symbol: str, axes: Sequence[tuple[str, int]], ip: ir.InsertionPoint) -> None:
    """Creates an `sdy.mesh`."""
    inner = ", ".join(f"{quote(name)}={size}" for name, size in axes)
    ir.Operation.create(
        "sdy.mesh",
        attributes={
            "sym_name": ir.StringAttr.get(symbol),
            "mesh": parse_attribute(f"#sdy.mesh<[{inner}]>"),
        },
        ip=ip,
    )
