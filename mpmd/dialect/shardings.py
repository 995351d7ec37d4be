"""Reads and writes the shardings of fragments, transfers and the boundary of a function.

A sharding is a `#sdy.sharding` attribute; None stands for an unknown one, which ends up replicated.
Fragments of both forms carry `in_shardings` and `out_shardings` while propagation is under way;
afterwards the types of the mesh tensors do.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from mpmd.dialect._jaxlib import ir, sdy
from mpmd.dialect.attributes import memo, parse_attribute, read_mesh_tensor

SHARDING = "sdy.sharding"
IN, OUT = "in_shardings", "out_shardings"

Axis = tuple[str, int | None]
"""The name of a mesh axis, and the size where only a part of the axis is meant."""

Axes = tuple[tuple[Axis, ...], ...]
"""The axes along which each dimension of a tensor is split."""


def is_single_device(mesh: ir.Attribute) -> bool:
    """Tells whether a `#sdy.mesh` is one device by its id, as JAX writes it for host callbacks."""
    mesh = sdy.MeshAttr(mesh)
    return not list(mesh.axes) and len(list(mesh.device_ids)) == 1


def sharding_text(sharding: ir.Attribute) -> str:
    """Returns what the type of a mesh tensor says inside `sharding=<...>`."""
    return memo(
        sharding.context,
        ("text", sharding),
        lambda: str(sharding).removeprefix("#sdy.sharding<").removesuffix(">"),
    )


def sharding_of_type(type_: ir.Type) -> ir.Attribute | None:
    """Returns the sharding in the type of a mesh tensor."""
    parts = read_mesh_tensor(type_)
    if parts is None or parts.sharding is None:
        return None
    return parse_attribute(f"#sdy.sharding<{parts.sharding}>")


def open_sharding(mesh: str, rank: int) -> ir.Attribute:
    """Returns the sharding that says nothing yet about a tensor of `rank` dimensions."""
    return parse_attribute(f"#sdy.sharding<@{mesh}, [{', '.join(['{?}'] * rank)}]>")


def unsplit_sharding(mesh: str, rank: int) -> ir.Attribute:
    """Returns the sharding that splits no dimension of a tensor of `rank` dimensions."""
    return closed_sharding(mesh, ((),) * rank)


def close_sharding(sharding: ir.Attribute) -> ir.Attribute:
    """Returns `sharding` with dimensions that cannot be split further, and without priorities."""
    text = re.sub(r"(, )?\?", "", str(sharding))
    return parse_attribute(re.sub(r"\}p\d+", "}", text))


def closed_sharding(mesh: str, axes: Axes) -> ir.Attribute:
    """Returns the sharding along whole `axes`."""
    dimensions = ", ".join("{" + ", ".join(f'"{name}"' for name, _ in each) + "}" for each in axes)
    return parse_attribute(f"#sdy.sharding<@{mesh}, [{dimensions}]>")


def mesh_symbol(sharding: ir.Attribute) -> str:
    """Returns the name of the `sdy.mesh` that a sharding refers to."""
    reference = str(sdy.TensorShardingAttr(sharding).mesh_or_ref)
    return reference.removeprefix("@").strip('"')


def split_axes(sharding: ir.Attribute | None) -> Axes | None:
    """Returns the axes of each dimension; None where no dimension is split, or none is known."""
    if sharding is None:
        return None

    def read() -> tuple[Axes | None]:
        dimensions = sdy.TensorShardingAttr(sharding).dimension_shardings
        axes = tuple(tuple(map(_axis, sdy.DimensionShardingAttr(each).axes)) for each in dimensions)
        return (axes if any(axes) else None,)

    return memo(sharding.context, ("axes", sharding), read)[0]


def _axis(attribute: ir.Attribute) -> Axis:
    axis = sdy.AxisRefAttr(attribute)
    part = axis.sub_axis_info
    # Two parts of one axis differ by their text, which only has to be compared.
    return (axis.name, None) if part is None else (str(attribute), sdy.SubAxisInfoAttr(part).size)


def unreduced_axes(sharding: ir.Attribute | None) -> tuple[str, ...]:
    """Returns the axes along which a value is a partial sum."""
    if sharding is None:
        return ()
    return tuple(str(axis) for axis in sdy.TensorShardingAttr(sharding).unreduced_axes)


def equivalent(left: ir.Attribute | None, right: ir.Attribute | None) -> bool:
    """Tells whether two shardings place a tensor in the same way, be they open or closed."""
    return split_axes(left) == split_axes(right) and unreduced_axes(left) == unreduced_axes(right)


def local_elements(
    sharding: ir.Attribute | None, shape: Sequence[int], sizes: Mapping[str, int]
) -> int:
    """Returns how many elements of a tensor a device holds, on a mesh with axes of `sizes`."""
    axes = split_axes(sharding)
    if axes is None:
        return math.prod(shape)
    local = 1
    for extent, names in zip(shape, axes, strict=True):
        ways = math.prod(sizes.get(name, 1) if part is None else part for name, part in names)
        local *= -(-extent // ways)
    return local


# --- on operations ------------------------------------------------------------------------------


def producer(value: ir.Value) -> ir.Operation | None:
    """Returns the operation that makes `value`, or None for an argument."""
    owner = value.owner
    return None if isinstance(owner, ir.Block) else owner.operation


def read_shardings(op: ir.Operation, name: str) -> list[ir.Attribute] | None:
    """Returns `in_shardings` or `out_shardings` of a fragment, or None where it has none."""
    attributes = op.attributes
    if name not in attributes:
        return None
    attribute = attributes[name]
    return list(
        memo(
            attribute.context,
            ("list", attribute),
            lambda: sdy.TensorShardingPerValueAttr(attribute).shardings,
        )
    )


def write_shardings(op: ir.Operation, name: str, shardings: Sequence[ir.Attribute]) -> None:
    """Sets `in_shardings` or `out_shardings` of a fragment."""
    op.attributes[name] = sdy.TensorShardingPerValueAttr.get(list(shardings))


def set_sharding(op: ir.Operation, name: str, index: int, sharding: ir.Attribute) -> None:
    """Sets one of the shardings in a list of a fragment; a missing list is filled up, open."""
    shardings = read_shardings(op, name)
    if shardings is None:
        values = op.operands if name == IN else op.results
        mesh = mesh_symbol(sharding)
        shardings = [open_sharding(mesh, rank_of(value)) for value in values]
    if shardings[index] != sharding:
        shardings[index] = sharding
        write_shardings(op, name, shardings)


def rank_of(value: ir.Value) -> int:
    """Returns the number of dimensions of a mesh tensor."""
    return len(shape_of(value))


def shape_of(value: ir.Value) -> tuple[int, ...]:
    """Returns the global shape of a mesh tensor."""
    parts = read_mesh_tensor(value.type)
    assert parts is not None, f"{value.type} is no mesh tensor"
    tensor = parts.tensor
    return memo(tensor.context, ("shape", tensor), lambda: tuple(ir.RankedTensorType(tensor).shape))


def transfer_sharding(op: ir.Operation) -> ir.Attribute | None:
    """Returns the sharding of the result of a transfer."""
    found = read_shardings(op, SHARDING)
    return found[0] if found else None


def set_transfer_sharding(op: ir.Operation, sharding: ir.Attribute | None) -> None:
    """Sets or, with None, removes the sharding of the result of a transfer."""
    if sharding is not None:
        write_shardings(op, SHARDING, [sharding])
    elif SHARDING in op.attributes:
        del op.attributes[SHARDING]
