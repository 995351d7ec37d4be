"""What `_jax` does, by public calls only: slower, for versions of JAX with other internals."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
from jax import export
from jax.sharding import NamedSharding

from mpmd.runtime.backend_types import Copier, Runner, Signature


class PublicExecutable:
    """A compiled module, with the methods of XLA's executables that the runtime uses."""

    def __init__(self, compiled: Any, devices: Sequence[jax.Device]) -> None:
        self.compiled = compiled
        self.devices = list(devices)

    def local_devices(self) -> list[jax.Device]:
        return self.devices

    def get_parameter_shardings(self) -> None:
        """JAX has checked them in compiling."""

    def get_output_shardings(self) -> None:
        """JAX has checked them in compiling."""

    def get_compiled_memory_stats(self) -> Any:
        return self.compiled.memory_analysis()

    def cost_analysis(self) -> Any:
        return self.compiled.cost_analysis()


class _Results:
    """Stands for the end of an execution: its results exist, as far as they were not donated on."""

    def __init__(self, arrays: Sequence[jax.Array]) -> None:
        self.arrays = arrays

    def block_until_ready(self) -> None:
        for array in self.arrays:
            if not array.is_deleted():
                array.block_until_ready()


def compile_text(
    text: str,
    devices: Sequence[jax.Device],
    options: Mapping[str, Any],
    host_callbacks: Sequence[Any],
    signature: Signature,
) -> PublicExecutable:
    """Compiles a module by putting its text into an exported function of the same signature."""
    if host_callbacks:
        raise ValueError("it calls back to the host, which JAX's public calls cannot bind")
    inputs, outputs = signature()
    shardings = [argument.sharding for argument in inputs]
    targets = [result.sharding for result in outputs]

    def like(*arguments: Any) -> list[Any]:
        del arguments
        return [jax.numpy.zeros(result.shape, result.dtype) for result in outputs]

    template = jax.jit(like, in_shardings=shardings, out_shardings=targets, keep_unused=True)
    exported = dataclasses.replace(
        export.export(template)(*inputs), mlir_module_serialized=text.encode()
    )
    donated = _donated(text, len(inputs))
    function = jax.jit(
        exported.call,
        in_shardings=shardings,
        out_shardings=targets,
        donate_argnums=donated,
        keep_unused=True,
    )
    lowered = function.lower(*inputs)
    return PublicExecutable(lowered.compile(compiler_options=dict(options) or None), devices)


def rebind(executable: Any, devices: Sequence[jax.Device], options: Mapping[str, Any]) -> None:
    """Returns None: a module is compiled anew for other devices."""


def result_handler(result: jax.ShapeDtypeStruct) -> None:
    """Returns nothing: compiled functions make their own arrays."""


def runner(executable: PublicExecutable, handlers: Sequence[Any]) -> Runner:
    """Returns a function that starts `executable` and returns (something to wait for, results)."""
    call = executable.compiled

    def run(arrays: list[jax.Array]) -> tuple[Any, list[jax.Array]]:
        results = list(call(*arrays))
        return _Results(results), results

    return run


def copier(shardings: Sequence[Any]) -> Copier:
    """Returns a function that starts copying arrays to those shardings."""
    targets = list(shardings)

    def copy(arrays: list[jax.Array]) -> list[jax.Array]:
        return jax.device_put(arrays, targets, may_alias=False)

    return copy


def shards(array: jax.Array) -> list[jax.Array]:
    """Returns the one-device arrays that make up `array`, in the order of its devices."""
    by_device = {shard.device: shard.data for shard in array.addressable_shards}
    return [by_device[device] for device in device_order(array.sharding)]


def assembler(result: jax.ShapeDtypeStruct) -> Callable[[list[jax.Array]], jax.Array]:
    """Returns a function that makes one array of one-device arrays."""

    def assemble(parts: list[jax.Array]) -> jax.Array:
        return jax.make_array_from_single_device_arrays(result.shape, result.sharding, parts)

    return assemble


def device_order(sharding: Any) -> list[jax.Device]:
    """Returns the devices of a sharding, in the order of its mesh if it has one."""
    if isinstance(sharding, NamedSharding):
        return list(sharding.mesh.devices.flat)
    return sorted(sharding.device_set, key=lambda device: device.id)


def is_array(value: Any) -> bool:
    """Whether the value is a concrete array."""
    return isinstance(value, jax.Array) and not isinstance(value, jax.core.Tracer)


def _donated(text: str, count: int) -> tuple[int, ...]:
    """Returns the arguments that the module's text marks as donated."""
    signature = text.partition("@main(")[2].partition(" -> ")[0]
    arguments = [signature.partition(f"%arg{index}:")[2] for index in range(count)]
    ends = [argument.partition("%arg")[0] for argument in arguments]
    marks = ("jax.buffer_donor = true", "tf.aliasing_output")
    return tuple(index for index, end in enumerate(ends) if any(mark in end for mark in marks))
