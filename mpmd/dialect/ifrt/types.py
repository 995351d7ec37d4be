"""The array types of IFRT: shape, element type, and how shards lie on devices."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

_SHARDING = re.compile(r"#ifrt\.sharding_param<([\dx]*) ?to \[([\d, ]*)\] on ([\dx]+)>")
_ARRAY = re.compile(
    r"!ifrt\.array<tensor<([^>]*(?:<[^<>]*>)?[^>]*)>, (#ifrt\.\w+(?:<[^>]*>)?), \[([\d, ]*)\]"
    r'(?:, memory_kind = "([^"]*)")?(?:, layout = (.*))?>'
)
_INTEGERS = re.compile(r"-?\d+")


class IfrtError(ValueError):
    """The text is not an IFRT program, or uses a part of IFRT that nothing here can run."""


@dataclass(frozen=True)
class ShardingParam:
    """How the shards of an array are laid over its list of devices.

    `axis_sizes` splits the list of devices into axes, the first one changing fastest.
    `permutation` lists those axes in another order, again the fastest first. Walking the devices
    in that order gives the shards in row-major order of `dim_shards`, each one repeated for as
    many devices as are left over.
    """

    dim_shards: tuple[int, ...]
    permutation: tuple[int, ...]
    axis_sizes: tuple[int, ...]

    @classmethod
    def parse(cls, text: str) -> ShardingParam:
        """Returns the sharding that `#ifrt.sharding_param<...>` spells."""
        match = _SHARDING.fullmatch(text.strip())
        if match is None:
            raise IfrtError(f"not an ifrt.sharding_param attribute: {text}")
        dim_shards, permutation, axis_sizes = (
            tuple(int(n) for n in _INTEGERS.findall(part)) for part in match.groups()
        )
        sharding = cls(dim_shards, permutation, axis_sizes)
        if sorted(permutation) != list(range(len(axis_sizes))):
            raise IfrtError(f"[{match[2]}] is not a permutation of the axes {match[3]}")
        if sharding.num_devices % math.prod(dim_shards):
            raise IfrtError(f"{match[1]} shards cannot be laid over {match[3]} devices")
        return sharding

    @classmethod
    def replicated(cls, rank: int, num_devices: int) -> ShardingParam:
        """Returns the sharding that keeps a whole copy on every device."""
        return cls((1,) * rank, (0,), (num_devices,))

    @classmethod
    def in_order(cls, dim_shards: Sequence[int], num_devices: int) -> ShardingParam:
        """Returns the sharding whose shards follow the devices in row-major order."""
        return cls(tuple(dim_shards), (0,), (num_devices,))

    def __str__(self) -> str:
        """Returns the text of the attribute."""
        dims, axes = ("x".join(map(str, part)) for part in (self.dim_shards, self.axis_sizes))
        order = ", ".join(map(str, self.permutation))
        return f"#ifrt.sharding_param<{dims} to [{order}] on {axes}>"

    @property
    def num_devices(self) -> int:
        """The number of devices that hold a shard."""
        return math.prod(self.axis_sizes)

    @property
    def num_shards(self) -> int:
        """The number of different shards."""
        return math.prod(self.dim_shards)

    def tile_devices(self) -> list[int]:
        """Returns positions in the list of devices, in row-major order of (shards, copies)."""
        strides = [math.prod(self.axis_sizes[:axis]) for axis in range(len(self.axis_sizes))]
        positions = [0]
        for axis in reversed(self.permutation):
            steps = range(self.axis_sizes[axis])
            positions = [at + step * strides[axis] for at in positions for step in steps]
        return positions

    def shard_of_device(self) -> list[int]:
        """Returns the row-major number of the shard that each device in the list holds."""
        copies = self.num_devices // self.num_shards
        shards = [0] * self.num_devices
        for place, device in enumerate(self.tile_devices()):
            shards[device] = place // copies
        return shards

    def same_placement(self, other: ShardingParam) -> bool:
        """Whether both put the same shard on each device of the same list."""
        same_dims = self.dim_shards == other.dim_shards
        return same_dims and self.shard_of_device() == other.shard_of_device()

    def axes(self) -> tuple[list[int], list[list[int]]]:
        """Cuts the list of devices into axes such that each dimension is sharded along whole ones.

        Returns the sizes of the axes, the slowest first, as a mesh over the devices in order has
        them; and for each dimension the axes that shard it, major first.
        """
        copies = self.num_devices // self.num_shards
        # The parts of device axes in the order of the shards, and the dimension that each serves.
        parts: list[tuple[int, int, int]] = []
        remaining = [(axis, self.axis_sizes[axis]) for axis in reversed(self.permutation)]
        for dim, size in enumerate([*self.dim_shards, copies]):
            while size > 1:
                axis, length = remaining.pop(0)
                if length == 1:
                    continue
                taken = math.gcd(length, size)
                if taken != min(length, size):
                    raise IfrtError(f"{self} cuts across its device axes: not supported")
                parts.append((axis, taken, dim))
                size //= taken
                if length > taken:
                    remaining.insert(0, (axis, length // taken))
        order = sorted(range(len(parts)), key=lambda part: (-parts[part][0], part))
        position = {part: axis for axis, part in enumerate(order)}
        per_dim: list[list[int]] = [[] for _ in self.dim_shards]
        for part, (_, _, dim) in enumerate(parts):
            if dim < len(per_dim):
                per_dim[dim].append(position[part])
        return [parts[part][1] for part in order], per_dim

    def sdy_text(self, mesh: str) -> str:
        """Returns the sharding in Shardy's terms, over a mesh with the one axis "devices"."""
        sizes, per_dim = self.axes()
        dims = ("{" + ", ".join(_sub_axes(sizes, axes)) + "}" for axes in per_dim)
        return f"#sdy.sharding<@{mesh}, [{', '.join(dims)}]>"

    def hlo_text(self) -> str:
        """Returns the sharding as the value of an `mhlo.sharding` attribute."""
        if self.num_shards == 1:
            return "{replicated}"
        copies = self.num_devices // self.num_shards
        tile = [*self.dim_shards, *([copies] if copies > 1 else [])]
        devices = ",".join(map(str, self.tile_devices()))
        last = " last_tile_dim_replicate" if copies > 1 else ""
        return f"{{devices=[{','.join(map(str, tile))}]{devices}{last}}}"


@dataclass(frozen=True)
class ArrayType:
    """The type of an array: shape, element type as MLIR spells it, and where its shards live."""

    shape: tuple[int, ...]
    dtype: str
    sharding: ShardingParam
    devices: tuple[int, ...]
    memory_kind: str | None = None

    @classmethod
    @lru_cache(maxsize=4096)
    def parse(cls, text: str) -> ArrayType:
        """Returns the type that `!ifrt.array<...>` spells."""
        match = _ARRAY.fullmatch(text)
        if match is None:
            raise IfrtError(f"not an array type: {text}")
        tensor, sharding, devices, memory_kind, layout = match.groups()
        if layout not in (None, '"auto"', '"default"'):
            raise IfrtError(f"custom layouts are not supported: {text}")
        if "sharding_unspecified" in sharding:
            raise IfrtError(f"every array needs a sharding, but this one has none: {text}")
        *dims, dtype = tensor.split("x") if "<" not in tensor else _split_complex(tensor)
        if "?" in dims:
            raise IfrtError(f"dynamic shapes are not supported: {text}")
        array = cls(
            tuple(map(int, dims)),
            dtype,
            ShardingParam.parse(sharding),
            tuple(int(n) for n in _INTEGERS.findall(devices)),
            memory_kind,
        )
        _check_shards(array, text)
        return array

    def __str__(self) -> str:
        """Returns the text of the type."""
        memory = f', memory_kind = "{self.memory_kind}"' if self.memory_kind else ""
        return f"!ifrt.array<{self.tensor_text()}, {self.sharding}, {list(self.devices)}{memory}>"

    def tensor_text(self) -> str:
        """Returns the tensor type of the whole array."""
        return f"tensor<{'x'.join([*map(str, self.shape), self.dtype])}>"


def _sub_axes(sizes: Sequence[int], axes: Sequence[int]) -> Iterator[str]:
    """Spells axes as parts of the axis "devices"; neighbours must be written as one part."""
    index = 0
    while index < len(axes):
        first = last = axes[index]
        while index + 1 < len(axes) and axes[index + 1] == last + 1:
            index, last = index + 1, last + 1
        index += 1
        if last - first + 1 == len(sizes):
            yield '"devices"'
        else:
            yield f'"devices":({math.prod(sizes[:first])}){math.prod(sizes[first : last + 1])}'


def _split_complex(tensor: str) -> list[str]:
    shape, _, element = tensor.rpartition("complex<")
    return [*(dim for dim in shape.split("x") if dim), f"complex<{element}"]


def _check_shards(array: ArrayType, text: str) -> None:
    if len(array.sharding.dim_shards) != len(array.shape):
        raise IfrtError(f"the sharding has another rank than the array: {text}")
    if array.sharding.num_devices != len(array.devices):
        raise IfrtError(f"the sharding is for another number of devices than given: {text}")
    if len(set(array.devices)) != len(array.devices):
        raise IfrtError(f"a device is listed twice: {text}")
    for size, shards in zip(array.shape, array.sharding.dim_shards, strict=True):
        if size % shards:
            raise IfrtError(f"a dimension of {size} cannot be cut into {shards} shards: {text}")
