"""Between IFRT array types and what JAX calls them: dtypes, avals, shardings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import ml_dtypes
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec, Sharding

from mpmd.dialect.ifrt import ArrayType, IfrtError
from mpmd.runtime.backend import jax_calls
from mpmd.runtime.errors import LoadError

_DTYPES: dict[str, Any] = {
    "i1": np.bool_,
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "complex<f32>": np.complex64,
    "complex<f64>": np.complex128,
    **{f"i{bits}": np.dtype(f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"ui{bits}": np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64)},
    **{f"{sign}i{bits}": f"{sign}int{bits}" for sign in ("", "u") for bits in (2, 4)},
}


def numpy_dtype(element: str) -> np.dtype:
    """Returns the dtype of an MLIR element type, given as text."""
    dtype = _DTYPES.get(element)
    if isinstance(dtype, str):
        dtype = getattr(ml_dtypes, dtype, None)
    if dtype is None and element.startswith("f"):
        # Small floats: f8E4M3FN is float8_e4m3fn, f4E2M1FN is float4_e2m1fn.
        name = element.lower().replace("e", "_e", 1)
        dtype = getattr(ml_dtypes, f"float{name[1:]}", None)
    if dtype is None:
        raise LoadError(f"arrays of {element} are not supported")
    return np.dtype(dtype)


def shape_dtype_struct(array: ArrayType, sharding: Sharding) -> jax.ShapeDtypeStruct:
    """Returns an array type in JAX's terms."""
    return jax.ShapeDtypeStruct(array.shape, numpy_dtype(array.dtype), sharding=sharding)


def jax_sharding(array: ArrayType, devices: Sequence[jax.Device]) -> NamedSharding:
    """Returns the sharding of an array type; device id i of the type is `devices[i]`.

    The order of the mesh's devices is the order in the type, as executables and copies need.
    """
    placed = [devices[index] for index in array.devices]
    try:
        axes, per_dim = array.sharding.axes()
    except IfrtError as error:
        raise LoadError(str(error)) from error
    axes = axes or [1]
    names = [f"axis{index}" for index in range(len(axes))]
    mesh = Mesh(np.array(placed, dtype=object).reshape(axes), names)
    spec = PartitionSpec(*(tuple(names[axis] for axis in dims) or None for dims in per_dim))
    return NamedSharding(mesh, spec, memory_kind=array.memory_kind)


def same_placement(sharding: Sharding, array: ArrayType, devices: Sequence[jax.Device]) -> bool:
    """Whether a JAX sharding puts the shards of an array as its type says, devices in order."""
    expected = [devices[index] for index in array.devices]
    if jax_calls.device_order(sharding) != expected:
        return False
    if array.memory_kind and sharding.memory_kind != array.memory_kind:
        return False
    return sharding.is_equivalent_to(jax_sharding(array, devices), len(array.shape))
