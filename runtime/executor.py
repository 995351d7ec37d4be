"""The loaded program: issues the steps of its plan on the lanes of its devices."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
from jax.sharding import Sharding

from mpmd.dialect.ifrt import ArrayType
from mpmd.runtime.analysis import FragmentCost, MeshMemory, cost_per_mesh, memory_per_mesh
from mpmd.runtime.arguments import Signature
from mpmd.runtime.errors import ExecutionError, StepCancelled
from mpmd.runtime.executables import Executable
from mpmd.runtime.frame import Frame, Part, Track
from mpmd.runtime.instructions import InstructionMaker
from mpmd.runtime.lanes import REGISTRY, Registry
from mpmd.runtime.plan import Plan
from mpmd.runtime.streams import make_streams
from mpmd.runtime.watchdog import WATCHDOG


@dataclass(frozen=True)
class Prepared:
    """What loading makes of a program. `shardings` has one for every value of the plan."""

    name: str
    plan: Plan
    devices: tuple[jax.Device, ...]
    executables: tuple[Executable, ...]
    shardings: tuple[Sharding, ...]
    signature: Signature
    stall_timeout: float | None


@dataclass(frozen=True)
class _Cut:
    """The program cut into tracks for the lanes of one generation of the registry."""

    generation: int
    tracks: tuple[Track, ...]
    num_edges: int


class LoadedProgram:
    """A program that is compiled and bound to devices. Call it with arrays, get arrays.

    A call returns as soon as everything is issued; the results are ordinary arrays whose values
    come later. It may be called from several threads: steps are executed in the order of calls.
    """

    def __init__(self, prepared: Prepared, registry: Registry = REGISTRY) -> None:
        self._prepared = prepared
        self._registry = registry
        self._steps = itertools.count()
        self._maker = InstructionMaker(prepared.plan, prepared.executables, prepared.shardings)
        self._in_flight: set[Frame] = set()
        self._closed = False
        self._state = threading.Condition()
        plan = prepared.plan
        self._results = plan.results
        self._padding = [None] * (len(plan.types) - plan.num_arguments)
        self._device_sets = [
            [prepared.devices[index] for index in devices] for devices in plan.device_sets
        ]
        self._current = self._cut()

    def __call__(self, *arrays: Any) -> list[jax.Array]:
        """Runs one step; raises ArgumentError before it, ExecutionError if it fails."""
        prepared = self._prepared
        slots: list[Any] = prepared.signature.check(arrays)
        slots += self._padding
        frame = self._submit(f"step {next(self._steps)} of {prepared.name}", slots)
        del slots
        try:
            return frame.results(self._results)
        except ExecutionError:
            raise
        except BaseException as error:
            frame.fail(_cancelled(frame, error))
            raise
        finally:
            self._forget(frame)

    def _submit(self, title: str, slots: list[Any]) -> Frame:
        """Puts the step on all its lanes at once, so that all lanes see steps in one order."""
        with self._registry.lock:
            if self._closed:
                raise ExecutionError(f"{self._prepared.name} is closed")
            if self._current.generation != self._registry.generation:
                self._current = self._cut()
            cut = self._current
            frame = Frame(title, slots, cut.num_edges, cut.tracks)
            with self._state:
                self._in_flight.add(frame)
            if self._prepared.stall_timeout is not None:
                WATCHDOG.watch(frame, self._registry, self._prepared.stall_timeout)
            try:
                for track in cut.tracks:
                    track.lane.submit(Part(frame, track))
            except BaseException as error:
                # Some lanes have their part and must not wait for those that never get theirs.
                frame.fail(_cancelled(frame, error))
                self._forget(frame)
                raise
        return frame

    def _forget(self, frame: Frame) -> None:
        WATCHDOG.forget(frame)
        with self._state:
            self._in_flight.discard(frame)
            if self._closed:
                self._state.notify_all()

    def _cut(self) -> _Cut:
        registry, devices = self._registry, self._prepared.devices
        with registry.lock:
            registry.prepare(self._device_sets)
            streams = make_streams(
                self._prepared.plan, lambda device: registry.lane(devices[device])
            )
            tracks = [self._maker.track(stream) for stream in streams.streams]
            return _Cut(registry.generation, tuple(tracks), streams.num_edges)

    @property
    def name(self) -> str:
        """The name of the program in errors and logs."""
        return self._prepared.name

    @property
    def input_shardings(self) -> tuple[Sharding, ...]:
        """Where each argument must be."""
        return tuple(argument.sharding for argument in self._prepared.signature.arguments)

    @property
    def output_shardings(self) -> tuple[Sharding, ...]:
        """Where each result will be."""
        return tuple(self._prepared.shardings[value] for value in self._results)

    @property
    def argument_types(self) -> tuple[ArrayType, ...]:
        """The IFRT type of each argument."""
        return self._prepared.plan.types[: self._prepared.plan.num_arguments]

    @property
    def result_types(self) -> tuple[ArrayType, ...]:
        """The IFRT type of each result."""
        return tuple(self._prepared.plan.types[value] for value in self._results)

    @property
    def donated(self) -> tuple[bool, ...]:
        """Which arguments a call deletes."""
        return self._prepared.plan.donated

    @property
    def fragments(self) -> tuple[str, ...]:
        """The names of the fragments, once for each list of devices that they run on."""
        return tuple(fragment.module.name for fragment in self._prepared.plan.fragments)

    def memory_analysis(self) -> dict[str, MeshMemory]:
        """Returns the memory that each mesh needs, in bytes per device."""
        return memory_per_mesh(self._prepared.plan, self._loaded())

    def cost_analysis(self) -> dict[str, dict[str, FragmentCost]]:
        """Returns, for each mesh and fragment, XLA's estimate of its cost and how often it runs."""
        return cost_per_mesh(self._prepared.plan, self._loaded())

    def close(self) -> None:
        """Waits until the calls of other threads have returned, and frees the compiled code."""
        with self._registry.lock:
            self._closed = True
        with self._state:
            while self._in_flight:
                self._state.wait()
            self._prepared = replace(self._prepared, executables=())
            self._maker = InstructionMaker(self._prepared.plan, (), ())
            self._current = _Cut(-1, (), 0)

    def _loaded(self) -> Sequence[Any]:
        if self._closed:
            raise ExecutionError(f"{self._prepared.name} is closed")
        return [executable.loaded for executable in self._prepared.executables]


def _cancelled(frame: Frame, error: BaseException) -> StepCancelled:
    """Returns what ends a step whose caller was interrupted; lanes stop before what comes next."""
    return StepCancelled(f"{frame.title} was interrupted by {type(error).__name__}")
