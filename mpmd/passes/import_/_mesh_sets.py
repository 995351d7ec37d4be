"""Sets of meshes with origins, and where mesh inference keeps them.

A *use set* says on which meshes a value is needed, a *source set* where it can be made; a source
set of None means everywhere. Both stand in attributes of operations, and of the arguments and
results of functions and loops. Sets are immutable tuples: most values of a program share one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import mesh_of, meshes_attribute, read_meshes

USE_SET, SRC_SET, REDUCE = "mpmd.use_set", "mpmd.src_set", "mpmd.reduce"

Meshes = tuple[tuple[str, tuple[str, ...]], ...]
"""(mesh, origins) pairs: an origin tells the user why a value is on that mesh."""

NOWHERE: Meshes = ()


@cache
def union(a: Meshes, b: Meshes) -> Meshes:
    """Returns the meshes of either set, those of `a` first."""
    if not a or a == b:
        return b
    merged = dict(a)
    for mesh, origins in b:
        merged[mesh] = _join(merged.get(mesh, ()), origins)
    return tuple(merged.items())


@cache
def intersection(a: Meshes, b: Meshes) -> Meshes:
    """Returns the meshes of both sets in the order of `a`, with the origins of both."""
    other = dict(b)
    return tuple((mesh, _join(origins, other[mesh])) for mesh, origins in a if mesh in other)


@cache
def with_origin(meshes: Meshes, origin: str) -> Meshes:
    """Returns the same meshes, all of them due to `origin`."""
    return tuple((mesh, (origin,)) for mesh, _ in meshes)


def names(meshes: Meshes) -> list[str]:
    """Returns the mesh names of a set."""
    return [mesh for mesh, _ in meshes]


def _join(a: tuple[str, ...], b: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*a, *b)))


def read(attribute: ir.Attribute) -> Meshes:
    """Returns the set that an attribute spells."""
    return tuple(read_meshes(attribute).items())


def read_from(op: ir.Operation, name: str) -> Meshes | None:
    """Returns the set in attribute `name` of `op`, or None without one."""
    attributes = op.attributes
    return read(attributes[name]) if name in attributes else None


def attribute(meshes: Meshes) -> ir.Attribute:
    """Returns the attribute that spells `meshes`."""
    return meshes_attribute(dict(meshes))


def on_mesh_of(value: ir.Value, op: ir.Operation) -> Meshes:
    """Returns the mesh of a mesh tensor, due to the `origin` of `op`."""
    mesh = mesh_of(value)
    assert mesh is not None, f"{value} has no mesh"
    attributes = op.attributes
    if "origin" not in attributes:
        return ((mesh, ()),)
    return ((mesh, (ir.StringAttr(attributes["origin"]).value,)),)


def argument_dictionaries(
    op: ir.Operation, where: str, count: int
) -> list[dict[str, ir.Attribute]]:
    """Returns the dictionaries in the `arg_attrs` or `res_attrs` of a function or loop."""
    if where not in op.attributes:
        return [{} for _ in range(count)]
    return [
        {named.name: named.attr for named in ir.DictAttr(each)}
        for each in ir.ArrayAttr(op.attributes[where])
    ]


def read_all(op: ir.Operation, where: str, name: str, count: int) -> list[Meshes | None]:
    """Returns the sets named `name` in the `arg_attrs` or `res_attrs` of a function or loop."""
    return [
        read(each[name]) if name in each else None
        for each in argument_dictionaries(op, where, count)
    ]


def write_all(op: ir.Operation, where: str, name: str, sets: Sequence[Meshes | None]) -> None:
    """Adds the sets that are not None to `where` of a function or loop."""
    if all(meshes is None for meshes in sets):
        return
    found = argument_dictionaries(op, where, len(sets))
    for dictionary, meshes in zip(found, sets, strict=True):
        if meshes is not None:
            dictionary[name] = attribute(meshes)
    op.attributes[where] = ir.ArrayAttr.get([ir.DictAttr.get(each) for each in found])


def clear_all(op: ir.Operation, where: str, *names: str) -> None:
    """Removes the attributes `names` from `where` of a function or loop."""
    if where not in op.attributes:
        return
    found = argument_dictionaries(op, where, 0)
    for dictionary in found:
        for name in names:
            dictionary.pop(name, None)
    if any(found):
        op.attributes[where] = ir.ArrayAttr.get([ir.DictAttr.get(each) for each in found])
    else:
        del op.attributes[where]
