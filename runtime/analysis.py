"""What a loaded program needs: memory and work, per mesh and fragment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from mpmd.dialect.ifrt import ArrayType
from mpmd.runtime.plan import Plan, Run
from mpmd.runtime.sharding import numpy_dtype
from mpmd.runtime.streams import Copies, Free, make_streams


@dataclass
class MeshMemory:
    """Bytes on each device of a mesh.

    `peak_bytes` follows the order in which the mesh executes: all values alive at a time, the
    arguments that the caller keeps, and what the fragment at work needs for itself.
    `fragments` holds XLA's own statistics of each fragment.
    """

    argument_bytes: int = 0
    output_bytes: int = 0
    temp_bytes: int = 0
    peak_bytes: int = 0
    fragments: dict[str, Any] = field(default_factory=dict)


@dataclass
class FragmentCost:
    """XLA's estimate for one call of a fragment, and the number of calls in a step."""

    calls: int
    flops: float
    bytes_accessed: float
    properties: dict[str, Any]


def bytes_per_device(array: ArrayType) -> int:
    """Returns the size of one shard."""
    count = 1
    for size, shards in zip(array.shape, array.sharding.dim_shards, strict=True):
        count *= size // shards
    return count * numpy_dtype(array.dtype).itemsize


def meshes(plan: Plan) -> dict[tuple[int, ...], str]:
    """Returns the name of the mesh for each list of devices that holds a value."""
    names: dict[tuple[int, ...], str] = {}
    for step in plan.steps:
        if isinstance(step, Run):
            names.setdefault(step.devices, step.mesh)
    for devices in plan.device_sets:
        names.setdefault(devices, f"devices {list(devices)}")
    return names


def memory_per_mesh(plan: Plan, loaded: Sequence[Any]) -> dict[str, MeshMemory]:
    """Returns the memory of each mesh. Platforms without statistics count their arrays only."""
    names = meshes(plan)
    found = {name: MeshMemory() for name in names.values()}
    stats = [_statistics(executable) for executable in loaded]
    for fragment, statistics in zip(plan.fragments, stats, strict=True):
        mesh = found[names[fragment.devices]]
        mesh.fragments[fragment.module.name] = statistics
        mesh.temp_bytes = max(mesh.temp_bytes, _temporary(statistics))
    for values, attribute in (
        (range(plan.num_arguments), "argument_bytes"),
        (plan.results, "output_bytes"),
    ):
        for value in values:
            mesh = found[names[plan.types[value].devices]]
            size = getattr(mesh, attribute) + bytes_per_device(plan.types[value])
            setattr(mesh, attribute, size)
    for mesh_name, peak in _peaks(plan, stats, names).items():
        found[mesh_name].peak_bytes = peak
    return found


def cost_per_mesh(plan: Plan, loaded: Sequence[Any]) -> dict[str, dict[str, FragmentCost]]:
    """Returns the cost of each fragment on each mesh."""
    names = meshes(plan)
    costs: dict[int, FragmentCost] = {}
    found: dict[str, dict[str, FragmentCost]] = {name: {} for name in names.values()}
    for number, (fragment, executable) in enumerate(zip(plan.fragments, loaded, strict=True)):
        try:
            properties = dict(executable.cost_analysis())
        except Exception:  # not every platform can tell
            properties = {}
        cost = FragmentCost(
            0, properties.get("flops", 0.0), properties.get("bytes accessed", 0.0), properties
        )
        costs[number] = found[names[fragment.devices]][fragment.module.name] = cost
    for step in plan.steps:
        if isinstance(step, Run):
            costs[step.fragment].calls += 1
    return found


def _peaks(plan: Plan, stats: Sequence[Any], names: dict[tuple[int, ...], str]) -> dict[str, int]:
    """Follows the plan's order: what a mesh holds at a time if it is neither early nor late."""
    live = dict.fromkeys(names.values(), 0)
    for array in plan.types[: plan.num_arguments]:
        live[names[array.devices]] += bytes_per_device(array)
    peak = dict(live)

    def add(values: Sequence[int], sign: int, extra: int = 0) -> None:
        for value in values:
            mesh = names[plan.types[value].devices]
            live[mesh] += sign * bytes_per_device(plan.types[value])
            peak[mesh] = max(peak[mesh], live[mesh] + extra)

    streams = make_streams(plan, lambda device: None).streams
    for operation in (operation for stream in streams for operation in stream.operations):
        if isinstance(operation, Run):
            add(operation.outputs, 1, _temporary(stats[operation.fragment]))
        elif isinstance(operation, Copies):
            add([copy.output for copy in operation.copies], 1)
        elif isinstance(operation, Free):
            gone = [v for v in operation.values if v >= plan.num_arguments or plan.donated[v]]
            add(gone, -1)
    return peak


def _statistics(executable: Any) -> Any:
    try:
        return executable.get_compiled_memory_stats()
    except Exception:  # not every platform can tell
        return None


def _temporary(statistics: Any) -> int:
    return 0 if statistics is None else statistics.temp_size_in_bytes
