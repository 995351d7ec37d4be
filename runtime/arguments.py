"""Checks, and if asked for places, the arguments of a program: once, on entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np
from jax.sharding import Sharding

from mpmd.dialect.ifrt import ArrayType
from mpmd.runtime.backend import jax_calls
from mpmd.runtime.errors import ArgumentError
from mpmd.runtime.sharding import numpy_dtype, same_placement

# How many shardings of correct arguments to remember: programs are called with few.
_REMEMBERED = 64


@dataclass
class Argument:
    """What one argument must be."""

    name: str
    array: ArrayType
    sharding: Sharding
    donated: bool
    accepted: set[Sharding] = field(default_factory=set)
    last_aval: Any = None
    last_sharding: Any = None

    def __post_init__(self) -> None:
        """Prepares what is compared on every call."""
        self.shape = self.array.shape
        self.dtype = numpy_dtype(self.array.dtype)
        self.accepted.add(self.sharding)


class Signature:
    """The arguments of a program."""

    def __init__(
        self, arguments: Sequence[Argument], devices: Sequence[jax.Device], place: bool
    ) -> None:
        self.arguments = tuple(arguments)
        self.devices = tuple(devices)
        self.place = place
        self.any_donated = any(argument.donated for argument in arguments)

    def check(self, values: Sequence[Any]) -> list[jax.Array]:
        """Returns the arrays to run with; raises ArgumentError, which names the argument."""
        if len(values) != len(self.arguments):
            raise ArgumentError(f"expected {len(self.arguments)} arguments, got {len(values)}")
        arrays = list(values)
        misplaced: list[int] = []
        is_array = jax_calls.is_array
        for index, argument in enumerate(self.arguments):
            value = arrays[index]
            if not is_array(value):
                arrays[index] = self._convert(argument, value)
                misplaced.append(index)
                continue
            if value.is_deleted():
                raise ArgumentError(f"{argument.name} was deleted, or donated to an earlier call")
            if value.aval is argument.last_aval and value.sharding is argument.last_sharding:
                continue  # results of one executable share these objects, so this is usual
            if value.shape != argument.shape or value.dtype != argument.dtype:
                raise _wrong_type(argument, value.shape, value.dtype)
            if value.sharding in argument.accepted or self._accept(argument, value):
                argument.last_aval, argument.last_sharding = value.aval, value.sharding
            else:
                misplaced.append(index)
        if self.any_donated and len({id(value) for value in values}) != len(values):
            self._check_aliases(values)
        if misplaced:
            self._put(arrays, misplaced)
        return arrays

    def _accept(self, argument: Argument, value: jax.Array) -> bool:
        """Whether a sharding not met before is as good as the expected one; remembers it if so."""
        if not same_placement(value.sharding, argument.array, self.devices):
            return False
        if len(argument.accepted) < _REMEMBERED:
            argument.accepted.add(value.sharding)
        return True

    def _convert(self, argument: Argument, value: Any) -> np.ndarray:
        """Returns a value that is not a JAX array as an array of the argument's type."""
        if not self.place:
            raise ArgumentError(
                f"{argument.name} must be a jax.Array on its devices, but is a "
                f"{type(value).__name__}; load the program with place=True to have it placed"
            )
        try:
            array = np.asarray(value)
        except Exception as error:
            raise ArgumentError(f"{argument.name} is not an array: {error}") from error
        is_python = isinstance(value, bool | int | float | complex)
        if array.dtype != argument.dtype and (
            (is_python and np.can_cast(array.dtype, argument.dtype, "same_kind"))
            or _canonical(array.dtype) == argument.dtype
        ):
            array = array.astype(argument.dtype)
        if array.shape != argument.shape or array.dtype != argument.dtype:
            raise _wrong_type(argument, array.shape, array.dtype)
        return array

    def _put(self, arrays: list[Any], misplaced: Sequence[int]) -> None:
        for index in misplaced:
            argument = self.arguments[index]
            if not self.place:
                raise ArgumentError(
                    f"{argument.name} has sharding {arrays[index].sharding}, but the program "
                    f"needs {argument.sharding} (devices in this order); load the program with "
                    "place=True to have it placed"
                )
        targets = [self.arguments[index].sharding for index in misplaced]
        placed = jax.device_put([arrays[index] for index in misplaced], targets)
        for index, array in zip(misplaced, placed, strict=True):
            arrays[index] = array

    def _check_aliases(self, values: Sequence[Any]) -> None:
        first: dict[int, Argument] = {}
        for argument, value in zip(self.arguments, values, strict=True):
            other = first.setdefault(id(value), argument)
            both_arrays = jax_calls.is_array(value)
            if other is not argument and both_arrays and (other.donated or argument.donated):
                donated = other if other.donated else argument
                raise ArgumentError(
                    f"{other.name} and {argument.name} are the same array, but {donated.name} is "
                    "donated: pass a copy for one of them"
                )


def _wrong_type(argument: Argument, shape: tuple[int, ...], dtype: np.dtype) -> ArgumentError:
    return ArgumentError(
        f"{argument.name} must be {argument.dtype}{list(argument.shape)}, but is "
        f"{dtype}{list(shape)}"
    )


def _canonical(dtype: np.dtype) -> np.dtype:
    """Returns what JAX makes of a dtype: 32 bits of 64 unless x64 is enabled."""
    return np.dtype(jax.dtypes.canonicalize_dtype(dtype))
