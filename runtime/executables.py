"""Compiles fragments: each distinct module once, then bound to every list of devices it runs on."""

from __future__ import annotations

import concurrent.futures
import logging
import os
import threading
import time
import weakref
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax

from mpmd.dialect.ifrt import ArrayType
from mpmd.runtime.backend import jax_calls
from mpmd.runtime.errors import LoadError
from mpmd.runtime.plan import BoundFragment
from mpmd.runtime.sharding import jax_sharding, shape_dtype_struct

logger = logging.getLogger("mpmd.runtime")


@dataclass(frozen=True)
class Progress:
    """One more executable is ready. `rebound`: from the code of another one, without compiling."""

    done: int
    total: int
    name: str
    seconds: float
    rebound: bool


class Executable:
    """Compiled code, bound to a list of devices."""

    def __init__(self, loaded: Any, code: Hashable) -> None:
        self.loaded = loaded
        self.code = code


# Code that some loaded program still uses: a second program with the same fragments compiles none.
_bound: weakref.WeakValueDictionary[Hashable, Executable] = weakref.WeakValueDictionary()
_any_of_code: weakref.WeakValueDictionary[Hashable, Executable] = weakref.WeakValueDictionary()
_lock = threading.Lock()


class Compiler:
    """Compiles for one program: its devices and options."""

    def __init__(
        self,
        devices: Sequence[jax.Device],
        options: Mapping[str, Any],
        host_callbacks: Sequence[Any],
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self.devices = devices
        self.options = dict(options)
        self.host_callbacks = host_callbacks
        self.progress = progress
        self.done = 0
        # Callbacks belong to one program: code that calls them is not shared with others.
        self._private = object()

    def compile(self, fragments: Sequence[BoundFragment]) -> list[Executable]:
        """Returns an executable for each fragment. Modules are compiled side by side."""
        groups: dict[Hashable, list[int]] = {}
        for index, fragment in enumerate(fragments):
            _check_callbacks(fragment)
            groups.setdefault(self._code(fragment), []).append(index)
        found: dict[int, Executable] = {}

        def compile_group(indices: list[int]) -> None:
            for index in indices:
                found[index] = self._get(fragments[index], len(fragments))

        workers = max(1, min(len(groups), os.cpu_count() or 1))
        with concurrent.futures.ThreadPoolExecutor(workers, "mpmd-compile") as pool:
            futures = [pool.submit(compile_group, indices) for indices in groups.values()]
            try:
                for future in futures:
                    future.result()
            finally:
                for future in futures:
                    future.cancel()
        return [found[index] for index in range(len(fragments))]

    def _code(self, fragment: BoundFragment) -> Hashable:
        """Returns the key of compiled code that does not depend on which devices run it."""
        device = self.devices[fragment.devices[0]]
        options = tuple(sorted((key, str(value)) for key, value in self.options.items()))
        callbacks = self._private if fragment.module.has_host_callback else None
        kind = (id(device.client), device.device_kind)
        return (fragment.module.text, len(fragment.devices), kind, options, callbacks)

    def _get(self, fragment: BoundFragment, total: int) -> Executable:
        start = time.monotonic()
        devices = [self.devices[index] for index in fragment.devices]
        code = self._code(fragment)
        key = (code, tuple(device.id for device in devices))
        with _lock:
            executable = _bound.get(key)
            relative = _any_of_code.get(code)
        rebound = executable is not None
        if executable is None:
            loaded = self._rebind(relative, fragment, devices)
            rebound = loaded is not None
            if loaded is None:
                loaded = self._compile(fragment, devices)
            executable = Executable(loaded, code)
            with _lock:
                executable = _bound.setdefault(key, executable)
                _any_of_code.setdefault(code, executable)
        _check_shardings(executable.loaded, fragment)
        self._report(fragment.module.name, total, time.monotonic() - start, rebound)
        return executable

    def _compile(self, fragment: BoundFragment, devices: Sequence[jax.Device]) -> Any:
        module = fragment.module
        callbacks = self.host_callbacks if module.has_host_callback else ()

        def signature() -> tuple[list[jax.ShapeDtypeStruct], list[jax.ShapeDtypeStruct]]:
            inputs, outputs = (
                [shape_dtype_struct(a, jax_sharding(a, self.devices)) for a in arrays]
                for arrays in (fragment.inputs, fragment.outputs)
            )
            return inputs, outputs

        try:
            return jax_calls.compile_text(module.text, devices, self.options, callbacks, signature)
        except Exception as error:
            raise LoadError(f"fragment {module.name} does not compile: {error}") from error

    def _rebind(
        self, relative: Executable | None, fragment: BoundFragment, devices: Sequence[jax.Device]
    ) -> Any:
        if relative is None or fragment.module.has_host_callback:
            return None
        try:
            loaded = jax_calls.rebind(relative.loaded, devices, self.options)
        except Exception as error:
            # A platform need not be able to serialize; compiling again is only slower.
            logger.debug("cannot rebind %s: %s", fragment.module.name, error)
            return None
        if loaded is None or set(loaded.local_devices()) != set(devices):
            return None
        return loaded

    def _report(self, name: str, total: int, seconds: float, rebound: bool) -> None:
        with _lock:
            self.done += 1
            progress = Progress(self.done, total, name, seconds, rebound)
        how = "bound" if rebound else "compiled"
        logger.info("%s %s in %.2f s (%d/%d)", how, name, seconds, progress.done, total)
        if self.progress is not None:
            self.progress(progress)


def _check_callbacks(fragment: BoundFragment) -> None:
    if fragment.module.has_host_callback and len(fragment.devices) > 1:
        raise LoadError(
            f"fragment {fragment.module.name} calls back to the host (jax.debug.print, "
            f"jax.pure_callback or the like) and runs on {len(fragment.devices)} devices: if the "
            "callback raised, the devices would wait for each other for ever. Take it out of the "
            "computation, or give its mesh one device"
        )


def _check_shardings(loaded: Any, fragment: BoundFragment) -> None:
    """Refuses code that lays out arrays in another way than the program says."""
    if len(fragment.devices) == 1:
        return
    for what, actual, arrays in (
        ("argument", loaded.get_parameter_shardings(), fragment.inputs),
        ("result", loaded.get_output_shardings(), fragment.outputs),
    ):
        if actual is None or len(actual) != len(arrays):
            continue
        for index, (found, array) in enumerate(zip(actual, arrays, strict=True)):
            if not _agrees(found, array):
                raise LoadError(
                    f"{what} {index} of fragment {fragment.module.name} is compiled with another "
                    f"sharding than {array} says"
                )


def _agrees(found: Any, array: ArrayType) -> bool:
    shards = jax_calls.shard_of_device(found, len(array.shape), len(array.devices))
    return shards == (array.sharding.dim_shards, array.sharding.shard_of_device())
