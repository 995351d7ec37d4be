"""What a function becomes on its way: lowered and partitioned, then compiled for devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
from jax.sharding import NamedSharding, PartitionSpec

from mpmd.dialect.functions import symbol_name
from mpmd.frontend import prefixes
from mpmd.frontend.config import Config
from mpmd.frontend.partition import Port, labelled_text, partition_module
from mpmd.frontend.pieces import program_report
from mpmd.frontend.program import LabelledProgram, select
from mpmd.frontend.signature import Signature, is_key
from mpmd.frontend.topology import Place
from mpmd.schedules.report import ScheduleReport


@dataclass(frozen=True)
class FunctionNamedShardings:
    """Shardings, on the meshes of the topology, of arguments and results.

    The inputs have the tree of the positional arguments, or of (args, kwargs) if there are others.
    """

    input_specs: Any
    output_specs: Any


@dataclass(frozen=True)
class FunctionMeshAssignment:
    """Names of the meshes of arguments and results; trees as in `FunctionNamedShardings`."""

    input_meshes: Any
    output_meshes: Any


class Lowered:
    """A function lowered for one signature and partitioned, not yet compiled for devices."""

    def __init__(
        self,
        config: Config,
        program: LabelledProgram,
        inputs: Sequence[Place | None],
        outputs: Sequence[Place | None],
        in_shardings: Sequence[Any],
    ) -> None:
        """Partitions a labelled program."""
        self._config = config
        self._program = program
        self._partitioned = partition_module(
            program.bytecode, config, select(inputs, program.kept), outputs
        )
        signature = program.signature
        taken = iter(self._partitioned.inputs)
        self._in_shardings = [
            _sharding(next(taken), aval, config) if keep else given or _anywhere(place, config)
            for keep, aval, place, given in zip(
                program.kept, signature.in_avals, inputs, in_shardings, strict=True
            )
        ]
        self._out_shardings = [
            _sharding(port, aval, config)
            for port, aval in zip(self._partitioned.outputs, signature.out_avals, strict=True)
        ]

    @property
    def in_tree(self) -> Any:
        """The tree of (args, kwargs)."""
        return self._program.signature.in_tree

    @property
    def out_tree(self) -> Any:
        """The tree of the results."""
        return self._program.signature.out_tree

    def as_text(self, dialect: str = "ifrt") -> str:
        """The program: 'stablehlo' before partitioning, 'mpmd' after it, 'ifrt' as it runs."""
        if dialect == "ifrt":
            return self._partitioned.ifrt_text
        if dialect == "mpmd":
            return self._partitioned.mpmd_text
        if dialect == "stablehlo":
            return labelled_text(self._program.bytecode, self._config)
        raise ValueError(f"dialect must be 'ifrt', 'mpmd' or 'stablehlo', got {dialect!r}")

    @cached_property
    def schedule(self) -> ScheduleReport:
        """What each mesh would do when: print it, or draw it with `to_svg`.

        It is simulated from the order of the partitioned program. Every forward, input gradient
        and weight gradient of a stage takes one unit unless `with_costs` says otherwise.
        """
        module = self._partitioned.mpmd.operation
        name = symbol_name(module) if "sym_name" in module.attributes else "main"
        return program_report(name, self._partitioned.scheduled)

    @property
    def function_named_shardings(self) -> FunctionNamedShardings:
        """Where arguments are expected and results will be."""
        signature = self._program.signature
        return FunctionNamedShardings(
            signature.arguments_like(self._in_shardings),
            jax.tree.unflatten(signature.out_tree, self._out_shardings),
        )

    @property
    def function_mesh_assignment(self) -> FunctionMeshAssignment:
        """On which mesh arguments are expected and results will be."""
        signature = self._program.signature
        names: dict[Any, str] = {mesh: name for name, mesh in self._config.topology.items()}
        return FunctionMeshAssignment(
            signature.arguments_like([names[each.mesh] for each in self._in_shardings]),
            jax.tree.unflatten(signature.out_tree, [names[s.mesh] for s in self._out_shardings]),
        )

    def compile(self, compiler_options: dict[str, Any] | None = None) -> Compiled:
        """Compiles every distinct fragment and binds it to the devices of the topology."""
        from mpmd import runtime

        program, signature = self._program, self._program.signature
        loaded = runtime.load(
            self._partitioned.ifrt,
            self._config.devices,
            argument_names=select(signature.arg_names, program.kept),
            input_shardings=_physical(
                select(self._in_shardings, program.kept), select(signature.in_avals, program.kept)
            ),
            output_shardings=_physical(self._out_shardings, signature.out_avals),
            place=True,
            compile_options=compiler_options,
            host_callbacks=program.host_callbacks,
        )
        return Compiled(loaded, program, self._in_shardings, self._out_shardings)


class Compiled:
    """A function compiled for the devices of a topology."""

    def __init__(
        self,
        loaded: Any,
        program: LabelledProgram,
        in_shardings: list[NamedSharding],
        out_shardings: list[NamedSharding],
    ) -> None:
        """Takes a loaded program and what it needs to be called like the function."""
        self._loaded = loaded
        self._signature: Signature = program.signature
        self._kept = None if all(program.kept) else program.kept
        self._in_shardings = in_shardings
        self._out_shardings = out_shardings

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the function; returns once all is issued, with arrays that may not be there yet."""
        flat = self._signature.flatten(args, kwargs)
        self._signature.check(flat)
        return self.call_flat(flat)

    def call_flat(self, flat: Sequence[Any]) -> Any:
        """Runs it on arguments that are flattened, and known to be of the right types."""
        arrays = self._signature.prepare(flat)
        if self._kept is not None:
            arrays = select(arrays, self._kept)
        return self._signature.finish(self._loaded(*arrays))

    @property
    def input_shardings(self) -> Any:
        """The shardings of (args, kwargs), as `jax.stages.Compiled` gives them."""
        return jax.tree.unflatten(self._signature.in_tree, self._in_shardings)

    @property
    def output_shardings(self) -> Any:
        """The shardings of the results."""
        return jax.tree.unflatten(self._signature.out_tree, self._out_shardings)

    def memory_analysis(self) -> Any:
        """Bytes on each device of each mesh."""
        return self._loaded.memory_analysis()

    def cost_analysis(self) -> Any:
        """What each fragment of each mesh costs."""
        return self._loaded.cost_analysis()


def assigned_places(
    config: Config, signature: Signature
) -> tuple[list[Place | None], list[Place | None]]:
    """Where the configuration puts arguments and results."""
    inputs = prefixes.for_arguments(
        "input_mesh_assignment", config.input_mesh_assignment, signature.in_tree
    )
    outputs = prefixes.for_results(
        "output_mesh_assignment", config.output_mesh_assignment, signature.out_tree
    )
    return (
        prefixes.places_from_names("input_mesh_assignment", inputs, config.topology),
        prefixes.places_from_names("output_mesh_assignment", outputs, config.topology),
    )


def _sharding(port: Port, aval: Any, config: Config) -> NamedSharding:
    dimensions = port.axes[: aval.ndim]
    spec = [axes[0] if len(axes) == 1 else axes or None for axes in dimensions]
    while spec and spec[-1] is None:
        spec.pop()
    mesh = config.topology[port.place.mesh]
    return NamedSharding(mesh, PartitionSpec(*spec), memory_kind=port.place.memory_kind)


def _anywhere(place: Place | None, config: Config) -> NamedSharding:
    """Where an argument is said to be that nothing reads."""
    mesh = config.sharding_mesh if place is None else config.topology[place.mesh]
    return NamedSharding(mesh, PartitionSpec())


def _physical(shardings: Sequence[NamedSharding], avals: Sequence[Any]) -> list[NamedSharding]:
    """Shardings of what stands for typed keys: theirs, with one more dimension left whole."""
    return [
        sharding.update(spec=PartitionSpec(*_padded(sharding.spec, aval.ndim), None))
        if is_key(aval)
        else sharding
        for sharding, aval in zip(shardings, avals, strict=True)
    ]


def _padded(spec: PartitionSpec, ndim: int) -> list[Any]:
    return [*spec, *[None] * (ndim - len(spec))]
