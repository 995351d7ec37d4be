"""Where the frontend meets the compiler: in goes a labelled module, out a partitioned program."""

from __future__ import annotations

import contextlib
import gc
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from mpmd.dialect import attributes, diagnostics
from mpmd.dialect._jaxlib import ir, make_context
from mpmd.dialect.functions import function_type, functions, symbol_name
from mpmd.errors import PartitionError
from mpmd.frontend.config import Config
from mpmd.frontend.explain import explain
from mpmd.frontend.rules import FragmentInfo, FragmentOrigin, SplitFragmentType
from mpmd.frontend.topology import Place
from mpmd.lowering import LoweringError, lowered_to_ifrt
from mpmd.passes.base import PassFailure
from mpmd.passes.import_._assignment import Place as Where
from mpmd.passes.runner import run_passes
from mpmd.schedules.task import Kind

if TYPE_CHECKING:
    from mpmd.passes.optimize._happens_before import OrderByPredicate
    from mpmd.passes.optimize._scheduling_units import Unit
    from mpmd.passes.pipelines import Phases


@dataclass(frozen=True)
class Port:
    """Where an argument or result of a partitioned program is, and how it is split."""

    place: Place
    axes: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class PartitionedModule:
    """A partitioned program in both of its forms, and its arguments and results."""

    mpmd: ir.Module
    ifrt: ir.Module
    scheduled: ir.Operation
    """``main`` in the order of its schedule, of fragments that say what they are a task of."""
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]

    @cached_property
    def mpmd_text(self) -> str:
        """The program of fragment calls and transfers."""
        return str(self.mpmd)

    @cached_property
    def ifrt_text(self) -> str:
        """The program as it runs."""
        return str(self.ifrt)


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
    with _without_collections():
        return _partition(parse(module), config, inputs, outputs)


@contextlib.contextmanager
def _without_collections() -> Iterator[None]:
    """Keeps the garbage collector out.

    Passes leave no cycles behind, and make objects by the hundred thousand, for which the collector
    would walk all that jax has loaded again and again.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _partition(
    parsed: ir.Module,
    config: Config,
    inputs: Sequence[Place | None],
    outputs: Sequence[Place | None],
) -> PartitionedModule:
    operation = parsed.operation
    _set_topology(operation, config)
    found: list[diagnostics.Diagnostic] = []
    try:
        phases = _phases(config, inputs, outputs)
        with diagnostics.collect() as found:
            run_passes(operation, phases.schedule)
            with parsed.context, ir.Location.unknown(parsed.context):
                scheduled = entry_point(operation).clone().operation
            run_passes(operation, phases.partition)
        _warn(found)
        run_passes(operation, phases.export)
        type_ = function_type(entry_point(operation))
        ports = tuple(map(_port, type_.inputs)), tuple(map(_port, type_.results))
        ifrt = lowered_to_ifrt(parsed)
    except PassFailure as failure:
        errors = [each for each in found if each.severity == "error"]
        raise PartitionError(explain([*errors, failure.diagnostic])) from None
    except (LoweringError, ir.MLIRError) as failure:
        raise PartitionError(str(failure)) from None
    return PartitionedModule(parsed, ifrt, scheduled, *ports)


def labelled_text(module: str | bytes, config: Config) -> str:
    """The text of a labelled module with its topology, which `mpmd-opt` can partition, too."""
    parsed = parse(module)
    _set_topology(parsed.operation, config)
    return str(parsed)


def _warn(found: Sequence[diagnostics.Diagnostic]) -> None:
    """Tells the user what was ignored, such as a rule about a fragment that does not exist."""
    for each in found:
        if each.severity == "warning":
            warnings.warn(explain([each]), stacklevel=2)


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


def _set_topology(module: ir.Operation, config: Config) -> None:
    main = entry_point(module)
    shapes = {
        name: attributes.MeshShape(tuple(mesh.shape.items()))
        for name, mesh in config.topology.items()
    }
    with module.context:
        main.attributes["topology"] = attributes.topology_attribute(shapes)


def _phases(
    config: Config, inputs: Sequence[Place | None], outputs: Sequence[Place | None]
) -> Phases:
    from mpmd.passes import pipelines  # here, as it loads every pass

    schedule = {} if config.pipeline_schedule is None else {"schedule": _order(config)}
    return pipelines.partition(
        assignment=tuple(
            (label, Where(*place, config.stages.get(label)))
            for label, place in config.places.items()
        ),
        inputs=_numbered(inputs),
        outputs=_numbered(outputs),
        options=config.partitioning_options,
        merge_rules=[str(rule) for rule in config.fragment_merge_rules],
        schedule_rules=[str(rule) for rule in config.fragment_schedule_rules],
        **schedule,
    )


def _numbered(places: Sequence[Place | None]) -> tuple[tuple[int, Where], ...]:
    return tuple((i, Where(*place)) for i, place in enumerate(places) if place is not None)


def _order(config: Config) -> str | OrderByPredicate:
    """The schedule as the compiler takes it."""
    from mpmd.passes.optimize._happens_before import OrderByPredicate

    schedule = config.pipeline_schedule
    if isinstance(schedule, str):
        return "none" if schedule == "None" else schedule
    if callable(schedule):
        return OrderByPredicate(schedule, _describe)
    rows = [line for line in str(schedule).splitlines() if line.startswith("mesh ")]
    return "table:" + " | ".join(row.partition(":")[2].strip() for row in rows)


def _describe(unit: Unit) -> FragmentInfo:
    """What a predicate over fragments sees of one."""
    fragment = unit.fragment
    half = {
        Kind.Bi: SplitFragmentType.KEEP_TRANSFERRED,
        Kind.Bw: SplitFragmentType.DROP_TRANSFERRED,
    }
    return FragmentInfo(
        [FragmentOrigin(each.name, each.transpose_count) for each in fragment.origins],
        mesh_name=unit.mesh,
        stage_id=unit.stage,
        call_counter=unit.microbatch,
        split_type=half.get(unit.kind),
    )


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
