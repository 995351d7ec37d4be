"""The conversion of sharding_param to JAX shardings, over many shardings."""

import itertools
import math

import jax
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from mpmd.dialect.ifrt import ArrayType, ShardingParam
from mpmd.runtime.errors import LoadError
from mpmd.runtime.sharding import jax_sharding, numpy_dtype, same_placement

SIZE = 24


def shard_numbers(sharding, shape, dim_shards, devices):
    """Returns the row-major number of the shard on each device, from JAX's own index maps."""
    indices = sharding.devices_indices_map(shape)
    steps = [size // shards for size, shards in zip(shape, dim_shards, strict=True)]
    found = []
    for device in devices:
        starts = [index.start or 0 for index in indices[device]]
        coordinates = [start // step for start, step in zip(starts, steps, strict=True)]
        found.append(int(np.ravel_multi_index(coordinates, dim_shards)) if dim_shards else 0)
    return found


def all_params(axis_sizes):
    """Yields every sharding of two dimensions over whole axes, in every order of axes."""
    for permutation in itertools.permutations(range(len(axis_sizes))):
        tiles = [axis_sizes[axis] for axis in reversed(permutation)]
        for first, second in itertools.combinations_with_replacement(range(len(tiles) + 1), 2):
            dims = (math.prod(tiles[:first]), math.prod(tiles[first:second]))
            yield ShardingParam(dims, permutation, tuple(axis_sizes))


@pytest.mark.parametrize(
    "axis_sizes", [(1,), (8,), (2, 4), (4, 2), (2, 3), (3, 2), (2, 2, 2), (1, 2)]
)
def test_jax_puts_the_shards_where_the_attribute_says(axis_sizes):
    devices = jax.devices()[::-1]
    count = math.prod(axis_sizes)
    for param in all_params(axis_sizes):
        order = tuple(range(count))[::-1]
        array = ArrayType((SIZE, SIZE), "f32", param, order)
        sharding = jax_sharding(array, devices)
        placed = [devices[index] for index in order]
        numbers = shard_numbers(sharding, array.shape, param.dim_shards, placed)
        assert numbers == param.shard_of_device(), param
        assert list(sharding._device_assignment) == placed
        assert same_placement(sharding, array, devices)


def test_agrees_with_named_shardings():
    """Worked out by hand from NamedSharding(mesh(x=2, y=4), P('y', 'x')) and its relatives."""
    mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
    cases = {
        "4x2 to [1, 0] on 4x2": PartitionSpec("y", "x"),
        "2x4 to [0, 1] on 4x2": PartitionSpec("x", "y"),
        "8x1 to [0] on 8": PartitionSpec(("x", "y")),
        "8x1 to [1, 0] on 4x2": PartitionSpec(("y", "x")),
        "2x1 to [0] on 8": PartitionSpec("x"),
        "4x1 to [1, 0] on 4x2": PartitionSpec("y"),
        "1x4 to [1, 0] on 4x2": PartitionSpec(None, "y"),
        "1x1 to [0] on 8": PartitionSpec(),
    }
    for text, spec in cases.items():
        param = ShardingParam.parse(f"#ifrt.sharding_param<{text}>")
        array = ArrayType((SIZE, SIZE), "f32", param, tuple(range(8)))
        assert same_placement(NamedSharding(mesh, spec), array, jax.devices()), text


def test_placement_tells_device_order_and_memory_kind_apart():
    param = ShardingParam.parse("#ifrt.sharding_param<2 to [0] on 2>")
    array = ArrayType((SIZE,), "f32", param, (0, 1))
    pinned = ArrayType((SIZE,), "f32", param, (0, 1), "pinned_host")
    there = jax_sharding(array, jax.devices())
    swapped = jax_sharding(ArrayType((SIZE,), "f32", param, (1, 0)), jax.devices())
    assert same_placement(there, array, jax.devices())
    assert not same_placement(swapped, array, jax.devices())
    assert not same_placement(there, pinned, jax.devices())
    assert jax_sharding(pinned, jax.devices()).memory_kind == "pinned_host"


def test_shards_across_device_axes_are_refused():
    param = ShardingParam.parse("#ifrt.sharding_param<2x3 to [0, 1] on 2x3>")
    with pytest.raises(LoadError, match="cuts across its device axes"):
        jax_sharding(ArrayType((SIZE, SIZE), "f32", param, tuple(range(6))), jax.devices())


def test_dtypes():
    names = {
        "i1": "bool",
        "bf16": "bfloat16",
        "f8E4M3FN": "float8_e4m3fn",
        "f8E5M2": "float8_e5m2",
        "f4E2M1FN": "float4_e2m1fn",
        "ui32": "uint32",
        "i4": "int4",
        "complex<f32>": "complex64",
    }
    assert {name: str(numpy_dtype(name)) for name in names} == names
    with pytest.raises(LoadError, match="arrays of index"):
        numpy_dtype("index")
