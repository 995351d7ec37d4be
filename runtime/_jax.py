"""The only module of the runtime that uses private parts of JAX.

Everything here has one small purpose, so that a change in JAX is repaired in one place. Public
calls that do the same are 1.5 to 20 times slower, and these sit in the innermost loop. If JAX
lacks any of the private ones, importing this module fails, and `public` takes its place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax._src import compiler
from jax._src.array import ArrayImpl
from jax._src.core import ShapedArray
from jax._src.interpreters import mlir, pxla
from jaxlib import _hlo as hlo  # type: ignore[attr-defined]
from jaxlib import _jax as xla

from mpmd.runtime.backend_types import Copier, Runner, Signature

for _owner, _name in (
    (xla, "batched_copy_array_to_devices_with_sharding"),
    (xla.Client, "compile_and_load"),
    (xla.Client, "deserialize_executable"),
    (xla.LoadedExecutable, "execute_sharded"),
    (xla.LoadedExecutable, "serialize"),
    (xla.ExecuteResults, "consume_token"),
    (xla.ExecuteResults, "consume_with_handlers"),
):
    if not hasattr(_owner, _name):
        raise ImportError(f"this JAX has no {_owner.__name__}.{_name}")

# Donating semantics across devices end the process on 0.10.2 and 0.12.0.1; copying is always right.
_COPY = xla.ArrayCopySemantics.ALWAYS_COPY


def compile_text(
    text: str,
    devices: Sequence[jax.Device],
    options: Mapping[str, Any],
    host_callbacks: Sequence[Any],
    signature: Signature,
) -> Any:
    """Returns the loaded executable of a StableHLO module; releases the GIL while compiling."""
    del signature  # the module says it all
    client = devices[0].client
    where = (device_list(devices), _compile_options(devices, options))
    if not host_callbacks:
        return client.compile_and_load(text, *where)
    # Text is not taken together with callbacks.
    with mlir.make_ir_context():
        module = mlir.ir.Module.parse(text)
        return client.compile_and_load(module, *where, host_callbacks=list(host_callbacks))


def rebind(executable: Any, devices: Sequence[jax.Device], options: Mapping[str, Any]) -> Any:
    """Returns the same executable for other devices, many times cheaper than compiling again.

    The options must be passed anew: without them the result believes in the old devices.
    """
    client = devices[0].client
    compile_options = _compile_options(devices, options)
    return client.deserialize_executable(
        executable.serialize(), device_list(devices), compile_options
    )


def _compile_options(devices: Sequence[jax.Device], options: Mapping[str, Any]) -> Any:
    return compiler.get_compile_options(
        num_replicas=1,
        num_partitions=len(devices),
        device_assignment=np.array([[device.id for device in devices]]),
        env_options_overrides=dict(options),
        backend=devices[0].client,
    )


def device_list(devices: Sequence[jax.Device]) -> Any:
    """Returns JAX's interned form of a sequence of devices."""
    return xla.DeviceList(tuple(devices))


def result_handler(result: jax.ShapeDtypeStruct) -> Any:
    """Returns what turns the output buffers of an executable into an array."""
    aval = ShapedArray(result.shape, result.dtype)
    return pxla.global_aval_to_result_handler(aval, result.sharding, True)


def runner(executable: Any, handlers: Sequence[Any]) -> Runner:
    """Returns a function that starts `executable` and returns (token of its end, results)."""
    execute = executable.execute_sharded

    def run(arrays: list[jax.Array]) -> tuple[Any, list[jax.Array]]:
        results = execute(arrays, with_tokens=True)
        token = results.consume_token()
        return token, results.consume_with_handlers(handlers)

    return run


def copier(shardings: Sequence[Any]) -> Copier:
    """Returns a function that starts copying arrays, all at once, to those shardings.

    Shard i of each goes to device i of its sharding: the shards themselves do not change.
    """
    batched_copy = xla.batched_copy_array_to_devices_with_sharding
    targets = list(shardings)
    devices = [sharding._internal_device_list for sharding in targets]
    semantics = [_COPY] * len(targets)

    def copy(arrays: list[jax.Array]) -> list[jax.Array]:
        return batched_copy(arrays, devices, targets, semantics)

    return copy


def shards(array: Any) -> list[jax.Array]:
    """Returns the one-device arrays that make up `array`, in the order of its devices."""
    return array._arrays


def assembler(result: jax.ShapeDtypeStruct) -> Callable[[list[jax.Array]], jax.Array]:
    """Returns a function that makes one array of one-device arrays, without checking them."""
    aval = ShapedArray(result.shape, result.dtype)
    sharding = result.sharding

    def assemble(parts: list[Any]) -> jax.Array:
        return ArrayImpl(aval, sharding, parts, committed=True, _skip_checks=True)

    return assemble


def device_order(sharding: Any) -> list[jax.Device]:
    """Returns the devices of a sharding in the order in which arrays keep their shards."""
    return list(sharding._device_assignment)


def shard_of_device(
    op_sharding: Any, rank: int, num_devices: int
) -> tuple[tuple[int, ...], list[int]]:
    """Returns how XLA's sharding cuts the dimensions, and which shard each device holds."""
    sharding = hlo.HloSharding.from_proto(op_sharding)
    if sharding.is_replicated():
        return (1,) * rank, [0] * num_devices
    dims = tuple(sharding.tile_assignment_dimensions())[:rank]
    copies = num_devices // math.prod(dims)
    shards = [0] * num_devices
    for place, device in enumerate(sharding.tile_assignment_devices()):
        shards[device] = place // copies
    return dims, shards


def is_array(value: Any) -> bool:
    """Whether the value is a concrete array that executables accept as it is."""
    return isinstance(value, ArrayImpl)
