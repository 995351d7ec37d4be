"""Turns a sharding along the axes of a mesh into IFRT's: shards over a list of devices."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from mpmd.dialect._jaxlib import ir, sdy
from mpmd.dialect.attributes import MeshShape
from mpmd.dialect.ifrt import ShardingParam

Part = tuple[str, int, int]
"""A part of a mesh axis: name, size of all that is major to it in the axis, its own size."""


def sharding_param(sharding: ir.Attribute | None, rank: int, mesh: MeshShape) -> ShardingParam:
    """Returns how the shards of a tensor lie on the devices of `mesh`, in the order of its axes.

    Devices count up along the last axis first. An axis that shards no dimension keeps copies.
    Raises ValueError where the sharding does not fit the tensor or the mesh.
    """
    dimensions: list[list[Part]] = [[] for _ in range(rank)]
    if sharding is not None:
        sizes = dict(mesh.axes)
        given = sdy.TensorShardingAttr(sharding).dimension_shardings
        if len(given) != rank:
            raise ValueError(f"the sharding is for {len(given)} dimensions, there are {rank}")
        for parts, dimension in zip(dimensions, given, strict=True):
            axes = sdy.DimensionShardingAttr(dimension).axes
            parts.extend(_part(sdy.AxisRefAttr(axis), sizes) for axis in axes)
    used = [part for parts in dimensions for part in parts]
    cut = _cut_axes(mesh, used)
    order = used + [part for part in cut if part not in used]
    sizes_, permutation = _merge(cut, order)
    return ShardingParam(
        tuple(_product(parts) for parts in dimensions), tuple(permutation), tuple(sizes_)
    )


def _part(axis: sdy.AxisRefAttr, sizes: dict[str, int]) -> Part:
    info = axis.sub_axis_info
    if axis.name not in sizes:
        raise ValueError(f"the mesh has no axis '{axis.name}'; it has: {', '.join(sizes)}")
    if info is None:
        return axis.name, 1, sizes[axis.name]
    sub_axis = sdy.SubAxisInfoAttr(info)
    return axis.name, sub_axis.pre_size, sub_axis.size


def _cut_axes(mesh: MeshShape, used: Sequence[Part]) -> list[Part]:
    """Returns the axes of `mesh`, major to minor, cut where the parts in use begin and end."""
    parts = []
    for name, size in mesh.axes:
        cuts = {1, size}
        for axis, before, own in used:
            if axis == name:
                cuts |= {before, before * own}
        bounds = sorted(cuts)
        parts += [(name, low, high // low) for low, high in itertools.pairwise(bounds)]
    return parts


def _merge(parts: Sequence[Part], order: Sequence[Part]) -> tuple[list[int], list[int]]:
    """Joins parts that follow each other both on the devices and in the order of the shards.

    Returns the sizes of what is left and their order, both from minor to major.
    """
    place = {part: number for number, part in enumerate(parts)}
    runs: list[list[Part]] = []
    for part in order:
        if part[2] == 1:
            continue
        if runs and place[part] == place[runs[-1][-1]] + 1:
            runs[-1].append(part)
        else:
            runs.append([part])
    by_device = sorted(runs, key=lambda run: place[run[0]], reverse=True)
    number = {run[0]: index for index, run in enumerate(by_device)}
    return (
        [_product(run) for run in by_device] or [1],
        [number[run[0]] for run in reversed(runs)] or [0],
    )


def _product(parts: Sequence[Part]) -> int:
    product = 1
    for _, _, size in parts:
        product *= size
    return product
