"""Where the frontend meets the compiler: a labelled module goes in, a partitioned program comes out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mpmd.dialect import attributes
from mpmd.dialect._jaxlib import ir, make_context
from mpmd.dialect.functions import function_type, functions, symbol_name
from mpmd.errors import PartitionError
from mpmd.frontend.config import Config
from mpmd.frontend.topology import Place
from mpmd.passes.base import PassFailure
from mpmd.passes.registry import find
from mpmd.passes.runner import run_passes
from mpmd.schedules.schedule import Schedule


@dataclass(frozen=True)
class Port:
    """Where one argument or result of a partitioned program is, and how its dimensions are split."""

    place: Place
    axes: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class PartitionedModule:
    """A partitioned program as text, and its arguments and results."""

    mpmd_text: str
    ifrt_text: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]


def partition_module(
    module: str | bytes,
    config: Config,
    inputs: Sequence[Place | None],
    outputs: Sequence[Place | None],
) -> PartitionedModule:
    """Partitions a labelled module, whose entry point is ``main``.

    Args:
      module: text or bytecode.
      config: the configuration.
      inputs: where each argument of ``main`` is, None where the compiler chooses.
      outputs: the same for the results.
    """
    parsed = parse(module)
    operation = parsed.operation
    main = _set_topology(operation, config)
    passes = _pipelines(config, inputs, outputs)
    try:
        run_passes(operation, passes)
        main = entry_point(operation)
        type_ = function_type(main)
        mpmd_text = str(parsed)
        ports = tuple(map(_port, type_.inputs)), tuple(map(_port, type_.results))
        lower = find("mpmd-lower-to-ifrt")
        assert lower is not None
        run_passes(operation, [lower()])
    except PassFailure as failure:
        raise PartitionError(str(failure.diagnostic)) from None
    except ir.MLIRError as failure:
        raise PartitionError(str(failure)) from None
    return PartitionedModule(mpmd_text, str(parsed), *ports)


def parse(module: str | bytes) -> ir.Module:
    """Reads a module into a context of its own."""
    context = make_context()
    try:
        with context, ir.Location.unknown(context):
            return ir.Module.parse(module, context)
    except ir.MLIRError as error:
        raise PartitionError(f"this is no module: {error}") from None


def entry_point(module: ir.Operation) -> ir.Operation:
    """The function that a user calls."""
    for function in functions(module):
        if symbol_name(function) == "main":
            return function
    raise PartitionError("the module has no function main")


def _set_topology(module: ir.Operation, config: Config) -> ir.Operation:
    main = entry_point(module)
    shapes = {
        name: attributes.MeshShape(tuple(mesh.shape.items()))
        for name, mesh in config.topology.items()
    }
    with module.context:
        main.attributes["topology"] = attributes.topology_attribute(shapes)
    return main


def _pipelines(
    config: Config, inputs: Sequence[Place | None], outputs: Sequence[Place | None]
) -> list[Any]:
    # On use: `import mpmd` should not load every pass.
    from mpmd.passes import pipelines
    from mpmd.passes.import_._assignment import Place as PassPlace

    def numbered(places: Sequence[Place | None]) -> tuple[tuple[int, PassPlace], ...]:
        return tuple((i, PassPlace(*place)) for i, place in enumerate(places) if place is not None)

    return pipelines.partition(
        assignment=tuple(
            (label, PassPlace(*place, config.stages.get(label)))
            for label, place in config.places.items()
        ),
        inputs=numbered(inputs),
        outputs=numbered(outputs),
        options=config.partitioning_options,
        schedule=_schedule_text(config.pipeline_schedule),
        merge_rules=[str(rule) for rule in config.fragment_merge_rules],
        schedule_rules=[str(rule) for rule in config.fragment_schedule_rules],
    )


def _schedule_text(schedule: str | Schedule | None) -> str:
    """Spells a schedule for the compiler; without one it is 1F1B, of least memory."""
    if schedule is None:
        return "1F1B"
    if isinstance(schedule, str):
        return schedule
    return "table:" + "|".join(" ".join(map(str, row)) for row in schedule)


_DIMENSION = re.compile(r"\{([^}]*)\}")
_AXIS = re.compile(r'"((?:[^"\\]|\\.)*)"')


def _port(type_: ir.Type) -> Port:
    tensor = attributes.read_mesh_tensor(type_)
    assert tensor is not None, f"{type_} at the boundary of a partitioned program"
    axes: tuple[tuple[str, ...], ...] = ()
    if tensor.sharding is not None:
        dimensions = tensor.sharding[tensor.sharding.index("[") : tensor.sharding.index("]")]
        axes = tuple(tuple(_AXIS.findall(each)) for each in _DIMENSION.findall(dimensions))
    return Port(Place(tensor.mesh, tensor.memory_kind), axes)
