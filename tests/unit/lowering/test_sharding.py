"""Shardings along mesh axes as IFRT's, against the placement that they mean."""

import itertools
import math
import random

import numpy as np
import pytest

from mpmd.dialect._jaxlib import ir, make_context
from mpmd.dialect.attributes import MeshShape
from mpmd.lowering.sharding import sharding_param


@pytest.fixture(autouse=True)
def _context():
    with make_context():
        yield


def attribute(dimensions):
    text = ", ".join("{" + ", ".join(map(axis_text, axes)) + "}" for axes in dimensions)
    return ir.Attribute.parse(f"#sdy.sharding<@mesh, [{text}]>")


def axis_text(part):
    name, before, size, whole = part
    return f'"{name}"' if whole else f'"{name}":({before}){size}'


@pytest.mark.parametrize(
    ("axes", "dimensions", "text"),
    [
        ([("x", 2)], "[{}, {}]", "1x1 to [0] on 2"),
        ([("x", 2)], '[{"x"}]', "2 to [0] on 2"),
        ([("x", 2)], "[]", " to [0] on 2"),
        ([("x", 2), ("y", 3)], '[{"x"}, {"y"}]', "2x3 to [0] on 6"),
        ([("x", 2), ("y", 3)], '[{"y"}, {"x"}]', "3x2 to [1, 0] on 3x2"),
        ([("x", 2), ("y", 3)], '[{"x", "y"}]', "6 to [0] on 6"),
        ([("x", 2), ("y", 3)], '[{"y", "x"}]', "6 to [1, 0] on 3x2"),
        ([("x", 2), ("y", 3)], '[{"y"}]', "3 to [1, 0] on 3x2"),
        ([("x", 2), ("y", 3)], '[{"x"}]', "2 to [0] on 6"),
        ([("x", 4), ("y", 2)], '[{"x":(1)2}, {"y"}]', "2x2 to [1, 0, 2] on 2x2x2"),
        ([("x", 4)], '[{"x":(2)2}]', "2 to [1, 0] on 2x2"),
        ([("x", 1), ("y", 2)], '[{"x"}, {"y"}]', "1x2 to [0] on 2"),
    ],
)
def test_text(axes, dimensions, text):
    sharding = ir.Attribute.parse(f"#sdy.sharding<@mesh, {dimensions}>")
    rank = dimensions.count("{")
    param = sharding_param(sharding, rank, MeshShape(tuple(axes)))
    assert str(param) == f"#ifrt.sharding_param<{text}>"


def test_unknown_sharding_keeps_copies():
    param = sharding_param(None, 2, MeshShape((("x", 2), ("y", 3))))
    assert str(param) == "#ifrt.sharding_param<1x1 to [0] on 6>"


def random_case(rng):
    """Returns mesh axes, and for each dimension the parts of axes (name, before, size, whole)."""
    axes = [(name, rng.choice([1, 2, 3, 4, 8])) for name in "abcd"[: rng.randint(1, 4)]]
    parts = []
    for name, size in axes:
        if size >= 4 and rng.random() < 0.5:
            first = rng.choice([2, size // 2])
            # Not next to each other in one dimension: Shardy wants such parts written as one.
            parts.append((name, *rng.choice([(1, first), (first, size // first)]), False))
        else:
            parts.append((name, 1, size, True))
    rng.shuffle(parts)
    dimensions = [[] for _ in range(rng.randint(0, 3))]
    for part in parts:
        if dimensions and rng.random() < 0.7:
            rng.choice(dimensions).append(part)
    return axes, dimensions


def shard_of_device(axes, dimensions):
    """Returns the number of the shard of each device, from the coordinates of the device."""
    shards = []
    for coordinates in itertools.product(*(range(size) for _, size in axes)):
        at = {name: (c, size) for (name, size), c in zip(axes, coordinates, strict=True)}
        shard = 0
        for dimension in dimensions:
            for name, before, size, _ in dimension:
                coordinate, full = at[name]
                shard = shard * size + coordinate // (full // (before * size)) % size
        shards.append(shard)
    return shards


@pytest.mark.parametrize("seed", range(200))
def test_places_shards_as_the_axes_say(seed):
    axes, dimensions = random_case(random.Random(seed))
    param = sharding_param(attribute(dimensions), len(dimensions), MeshShape(tuple(axes)))
    assert param.dim_shards == tuple(math.prod(p[2] for p in dim) for dim in dimensions)
    assert param.shard_of_device() == shard_of_device(axes, dimensions)
    assert math.prod(param.axis_sizes) == np.prod([size for _, size in axes])
    # No two axes could be one: each merge makes programs of different meshes equal.
    neighbours = itertools.pairwise(param.permutation)
    assert not any(second == first + 1 for first, second in neighbours)
