"""Named meshes, and names that say on which of them something lives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
from jax.sharding import AbstractMesh, AxisType, Mesh, NamedSharding

Topology = Mapping[str, Mesh]

MEMORY_KINDS = ("device", "pinned_host")


class Place(NamedTuple):
    """A mesh and, where it was given, a kind of memory there."""

    mesh: str
    memory_kind: str | None = None

    def __str__(self) -> str:
        return self.mesh if self.memory_kind is None else f"{self.mesh}#{self.memory_kind}"


def check_topology(topology: object) -> dict[str, Mesh]:
    """Refuses what is not a dict of disjoint meshes with usable names."""
    if not isinstance(topology, Mapping):
        raise ValueError(f"topology must be a dict of mesh names to meshes, got {topology!r}")
    if not topology:
        raise ValueError("topology must not be empty: it needs at least one mesh")
    owners: dict[Any, str] = {}
    for name, mesh in topology.items():
        if not isinstance(name, str) or not name:
            raise ValueError(f"topology: a mesh name must be a non-empty string, got {name!r}")
        if "@" in name or "#" in name:
            raise ValueError(
                f"topology: the mesh name {name!r} must not contain '@' or '#', which are reserved "
                "for assignments ('label@mesh') and kinds of memory ('mesh#pinned_host')"
            )
        if not isinstance(mesh, Mesh):
            raise ValueError(f"topology[{name!r}] must be a jax.sharding.Mesh, got {mesh!r}")
        if mesh.size == 0 or not mesh.axis_names:
            raise ValueError(f"topology[{name!r}] has no devices or no axes")
        for device in mesh.devices.flat:
            if device in owners:
                raise ValueError(
                    f"topology: the meshes {owners[device]!r} and {name!r} share the device "
                    f"{device}; meshes must be disjoint"
                )
            owners[device] = name
    return dict(topology)


def parse_place(text: object, topology: Topology, key: str) -> Place:
    """Reads 'mesh' or 'mesh#memory_kind'."""
    if not isinstance(text, str):
        raise ValueError(f"{key} must be the name of a mesh, got {text!r}")
    mesh, has_kind, kind = text.partition("#")
    if mesh not in topology:
        raise ValueError(f"{key} is not a mesh: {text!r}; the meshes are {_names(topology)}")
    if has_kind and kind not in MEMORY_KINDS:
        raise ValueError(
            f"{key}: {kind!r} in {text!r} is no kind of memory; there are {', '.join(MEMORY_KINDS)}"
        )
    return Place(mesh, kind if has_kind else None)


def mesh_of(sharding: NamedSharding, topology: Topology) -> str | None:
    """The name of the mesh that a sharding is over, or None if it is not of the topology."""
    return next((name for name, mesh in topology.items() if mesh == sharding.mesh), None)


def all_axes(topology: Topology) -> AbstractMesh:
    """A mesh of all axes of all meshes, with the size of the first mesh that has the axis."""
    axes: dict[str, int] = {}
    for mesh in topology.values():
        for name, size in mesh.shape.items():
            axes.setdefault(name, size)
    types = (AxisType.Auto,) * len(axes)
    return AbstractMesh(tuple(axes.values()), tuple(axes), axis_types=types)


def mesh_names(tree: Any, topology: Topology) -> Any:
    """Names the mesh of every sharding, or array, of a tree."""

    def name(leaf: Any) -> str:
        sharding = getattr(leaf, "sharding", leaf)
        found = mesh_of(sharding, topology) if isinstance(sharding, NamedSharding) else None
        if found is None:
            raise ValueError(
                f"{leaf!r} is not on a mesh of the topology, which has {_names(topology)}"
            )
        return found

    return jax.tree.map(name, tree)


def _names(topology: Topology) -> str:
    return ", ".join(map(repr, topology))
