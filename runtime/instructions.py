"""Makes the closures that lanes call, from operations and compiled code.

Whatever can be looked up is looked up here, so that a closure does little beyond its call into XLA.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

import jax
from jax.sharding import Sharding, SingleDeviceSharding

from mpmd.runtime.backend import jax_calls
from mpmd.runtime.backend_types import Runner
from mpmd.runtime.executables import Executable
from mpmd.runtime.frame import Frame, Instruction, Track
from mpmd.runtime.lanes import Lane
from mpmd.runtime.plan import Copy, Plan, Run
from mpmd.runtime.sharding import shape_dtype_struct
from mpmd.runtime.streams import Copies, Delete, Free, Operation, Signal, Stream, Wait

Slots = list[Any]


class InstructionMaker:
    """Makes the instructions of one program."""

    def __init__(
        self, plan: Plan, executables: Sequence[Executable], shardings: Sequence[Sharding]
    ) -> None:
        self.plan = plan
        self.executables = executables
        self.shardings = shardings
        self._handlers: dict[tuple[int, int], Any] = {}
        self._runners: dict[tuple[int, ...], Runner] = {}

    def track(self, stream: Stream) -> Track:
        """Returns what the lane of a stream executes."""
        lane: Lane = stream.lane
        instructions: list[Instruction] = []
        labels: list[str] = []
        operations = iter(stream.operations)
        operation = next(operations, None)
        while operation is not None:
            following = next(operations, None)
            labels.append(self.label(operation))
            if isinstance(operation, Run) and isinstance(following, Free):
                # The most frequent pair, as one closure.
                instructions.append(self._run(operation, lane, following.values))
                following = next(operations, None)
            else:
                instructions.append(self._instruction(operation, lane))
            operation = following
        return Track(lane, instructions, labels)

    def label(self, operation: Operation) -> str:
        """Returns what an operation does, for error messages."""
        match operation:
            case Run():
                name = self.plan.fragments[operation.fragment].module.name
                return f"fragment {name} on mesh {operation.mesh}"
            case Copies(copies):
                sources = self._devices([copy.input for copy in copies])
                targets = self._devices([copy.output for copy in copies])
                count = f"{len(copies)} array{'s' if len(copies) > 1 else ''}"
                return f"the transfer of {count} from devices {sources} to {targets}"
            case Wait(edge):
                return f"waiting for transfer {edge}"
            case Signal(edge):
                return f"announcing transfer {edge}"
            case _:
                return "freeing values"

    def _devices(self, values: Sequence[int]) -> list[int]:
        types = (self.plan.types[value] for value in values)
        return sorted({device for array in types for device in array.devices})

    def _instruction(self, operation: Operation, lane: Lane) -> Instruction:
        match operation:
            case Run():
                return self._run(operation, lane, ())
            case Copies(copies):
                return self._copies(copies)
            case Wait(edge):
                return _wait(edge)
            case Signal(edge):
                return _signal(edge)
            case Free(values):
                return _free(values)
            case Delete(values):
                return _delete(values)

    def _run(self, run: Run, lane: Lane, over: Sequence[int]) -> Instruction:
        start = self._runner(run)
        inputs, store = _reader(run.inputs), _writer(run.outputs)
        in_flight, limit, label = lane.in_flight, lane.limit, self.label(run)

        def issue(frame: Frame) -> None:
            if len(in_flight) >= limit:
                lane.make_room()
            slots = frame.slots
            token, results = start(inputs(slots))
            in_flight.append((token, frame, label))
            store(slots, results)
            for value in over:
                slots[value] = None

        return issue

    def _runner(self, run: Run) -> Runner:
        key = (run.fragment, *(id(self.shardings[value]) for value in run.outputs))
        if key not in self._runners:
            handlers = [self._handler(value) for value in run.outputs]
            loaded = self.executables[run.fragment].loaded
            self._runners[key] = jax_calls.runner(loaded, handlers)
        return self._runners[key]

    def _handler(self, value: int) -> Any:
        array, sharding = self.plan.types[value], self.shardings[value]
        key = (id(array), id(sharding))
        if key not in self._handlers:
            self._handlers[key] = jax_calls.result_handler(shape_dtype_struct(array, sharding))
        return self._handlers[key]

    def _copies(self, copies: Sequence[Copy]) -> Instruction:
        if any(copy.picks is not None for copy in copies):
            return self._picked_copies(copies)
        copy_all = jax_calls.copier([self.shardings[copy.output] for copy in copies])
        inputs = _reader([copy.input for copy in copies])
        store = _writer([copy.output for copy in copies])

        def issue(frame: Frame) -> None:
            slots = frame.slots
            store(slots, copy_all(inputs(slots)))

        return issue

    def _picked_copies(self, copies: Sequence[Copy]) -> Instruction:
        """Copies single shards and puts arrays together from them, in one call for all."""
        targets: list[Sharding] = []
        parts: list[tuple[Copy, Sequence[int], slice, Any]] = []
        for copy in copies:
            sharding = self.shardings[copy.output]
            devices = jax_calls.device_order(sharding)
            picks = copy.picks if copy.picks is not None else range(len(devices))
            place = slice(len(targets), len(targets) + len(devices))
            targets += [
                SingleDeviceSharding(device, memory_kind=sharding.memory_kind) for device in devices
            ]
            result = shape_dtype_struct(self.plan.types[copy.output], sharding)
            parts.append((copy, picks, place, jax_calls.assembler(result)))
        copy_all = jax_calls.copier(targets)

        def issue(frame: Frame) -> None:
            slots = frame.slots
            sources: list[jax.Array] = []
            for copy, picks, _, _ in parts:
                shards = jax_calls.shards(slots[copy.input])
                sources += [shards[pick] for pick in picks]
            results = copy_all(sources)
            for copy, _, place, assemble in parts:
                slots[copy.output] = assemble(results[place])

        return issue


def _reader(values: Sequence[int]) -> Callable[[Slots], list[jax.Array]]:
    """Returns a function that lists the values in the slots of those numbers."""
    if len(values) < 2:
        return lambda slots: [slots[value] for value in values]
    get = itemgetter(*values)
    return lambda slots: list(get(slots))


def _writer(values: Sequence[int]) -> Callable[[Slots, list[jax.Array]], None]:
    """Returns a function that stores arrays in the slots of those numbers."""
    if values and list(values) == list(range(values[0], values[0] + len(values))):
        first, last = values[0], values[-1] + 1

        def store_range(slots: Slots, arrays: list[jax.Array]) -> None:
            slots[first:last] = arrays

        return store_range

    def store(slots: Slots, arrays: list[jax.Array]) -> None:
        for value, array in zip(values, arrays, strict=True):
            slots[value] = array

    return store


def _wait(edge: int) -> Instruction:
    def wait(frame: Frame) -> None:
        frame.edges[edge].acquire()

    return wait


def _signal(edge: int) -> Instruction:
    def signal(frame: Frame) -> None:
        frame.edges[edge].release()

    return signal


def _free(values: Sequence[int]) -> Instruction:
    def free(frame: Frame) -> None:
        slots = frame.slots
        for value in values:
            slots[value] = None

    return free


def _delete(values: Sequence[int]) -> Instruction:
    def delete(frame: Frame) -> None:
        slots = frame.slots
        for value in values:
            slots[value].delete()

    return delete
