"""What a user says of arguments or results by a prefix of their tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
from jax.sharding import Mesh, NamedSharding

from mpmd.frontend.topology import Place, mesh_of, parse_place

_UNSAID = object()


def broadcast(key: str, prefix: Any, tree: Any, what: str) -> list[Any]:
    """One value for each leaf of the tree, None where the prefix says nothing."""
    said = jax.tree.map(lambda x: _UNSAID if x is None else x, prefix, is_leaf=lambda x: x is None)
    whole = jax.tree.unflatten(tree, [0] * tree.num_leaves)
    try:
        values = jax.tree.leaves(jax.tree.broadcast(said, whole))
    except ValueError as error:
        raise ValueError(f"{key} is not a prefix of the tree of the {what}: {error}") from None
    return [None if value is _UNSAID else value for value in values]


def for_arguments(key: str, prefix: Any, in_tree: Any) -> list[Any]:
    """One value for each argument; a tuple speaks of the positional ones only, as in jax.jit."""
    args, kwargs = in_tree.children()
    if prefix is None or (isinstance(prefix, (tuple, list)) and not prefix):
        return [None] * in_tree.num_leaves
    if isinstance(prefix, list):
        prefix = tuple(prefix)
    if not isinstance(prefix, tuple):
        return broadcast(key, prefix, in_tree, "arguments")
    return broadcast(key, prefix, args, "arguments") + [None] * kwargs.num_leaves


def for_results(key: str, prefix: Any, out_tree: Any) -> list[Any]:
    """One value for each result."""
    if prefix is None or (isinstance(prefix, tuple) and not prefix):
        return [None] * out_tree.num_leaves
    return broadcast(key, prefix, out_tree, "results")


def check_shardings(
    key: str,
    shardings: Sequence[Any],
    names: Sequence[str],
    avals: Sequence[Any],
    topology: dict[str, Mesh],
) -> None:
    """Refuses what is no sharding of its array over the axes of a mesh."""
    for sharding, name, aval in zip(shardings, names, avals, strict=True):
        if sharding is None:
            continue
        if not isinstance(sharding, NamedSharding):
            raise ValueError(f"{key} of {name} must be a NamedSharding or None, got {sharding!r}")
        try:
            sharding.check_compatible_aval(aval.shape)
            sharding.shard_shape(aval.shape)
        except (ValueError, IndexError) as error:
            raise ValueError(
                f"{key} of {name} does not fit its shape {aval.shape}: {error}"
            ) from None
        used = {axis for axes in sharding.spec for axis in _axes_of(axes)}
        if not any(used <= set(mesh.axis_names) for mesh in topology.values()):
            known = "; ".join(f"{each!r}: {mesh.axis_names}" for each, mesh in topology.items())
            raise ValueError(
                f"{key} of {name} is over {', '.join(map(repr, sorted(used)))}, which no mesh of "
                f"the topology has as its axes: {known}"
            )


def _axes_of(axes: Any) -> tuple[str, ...]:
    """The axes that one dimension is split over, in an entry of a PartitionSpec."""
    if isinstance(axes, str):
        return (axes,)
    return tuple(axes) if isinstance(axes, tuple) else ()


def places_from_names(
    key: str, names: Sequence[Any], topology: dict[str, Mesh]
) -> list[Place | None]:
    """The places that an assignment names."""
    return [None if name is None else parse_place(name, topology, key) for name in names]


def merge_places(
    topology: dict[str, Mesh],
    key: str,
    places: Sequence[Place | None],
    shardings: Sequence[Any],
    names: Sequence[str],
) -> list[Place | None]:
    """Adds the places that shardings say, and refuses contradictions."""
    merged = list(places)
    for i, (place, sharding, name) in enumerate(zip(places, shardings, names, strict=True)):
        if sharding is None:
            continue
        mesh = mesh_of(sharding, topology)
        if mesh is None:
            raise ValueError(
                f"{key} of {name} is over a mesh that is not in the topology, which has "
                f"{', '.join(map(repr, topology))}: {sharding.mesh}"
            )
        if place is not None and place.mesh != mesh:
            raise ValueError(
                f"{key} puts {name} on the mesh {mesh!r}, but the configuration assigns it to "
                f"{place.mesh!r}"
            )
        kind = "pinned_host" if sharding.memory_kind == "pinned_host" else None
        merged[i] = place or Place(mesh, kind)
    return merged
