"""Turns an IFRT program into the steps that the runtime takes: executables and copies of shards.

Everything that a step needs and loading can know is decided here, once: resharding transfers
become programs and copies, donation is checked, results that would share an array get one each.
"""

from __future__ import annotations

import collections
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mpmd.dialect import ifrt
from mpmd.dialect.ifrt import ArrayType, FragmentModule
from mpmd.runtime.errors import LoadError
from mpmd.runtime.reshard import plan_reshard, reshard_module


@dataclass(frozen=True)
class BoundFragment:
    """A module to be compiled for a list of devices, with the types that it takes and returns."""

    module: FragmentModule
    devices: tuple[int, ...]
    inputs: tuple[ArrayType, ...]
    outputs: tuple[ArrayType, ...]


@dataclass(frozen=True)
class Run:
    """Starts a fragment."""

    fragment: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    mesh: str
    devices: tuple[int, ...]


@dataclass(frozen=True)
class Copy:
    """Starts copying one array to other devices.

    Destination device j gets the shard of source device `picks[j]`; None is the identity.
    """

    input: int
    output: int
    picks: tuple[int, ...] | None
    devices: tuple[int, ...]


Step = Run | Copy


@dataclass(frozen=True)
class Plan:
    """A program as steps over numbered values, in an order in which they can all be issued."""

    name: str
    types: tuple[ArrayType, ...]
    num_arguments: int
    donated: tuple[bool, ...]
    results: tuple[int, ...]
    steps: tuple[Step, ...]
    fragments: tuple[BoundFragment, ...]

    @property
    def device_sets(self) -> list[tuple[int, ...]]:
        """The different lists of devices that hold a value."""
        return list(dict.fromkeys(array.devices for array in self.types))


def make_plan(program: ifrt.Program) -> Plan:
    """Returns the plan of an IFRT program; raises LoadError if it could not run."""
    return _Planner(program).plan()


class _Planner:
    """Walks the program once. Steps are collected in groups, one per call of the program.

    A transfer joins the group of the call that produced its source, so that it starts as soon as
    that call is issued, wherever the compiler wrote it down.
    """

    def __init__(self, program: ifrt.Program) -> None:
        self.program = program
        self.types = list(program.types)
        self.groups: list[list[Step]] = [[]]
        self.group_of = dict.fromkeys(range(program.num_arguments), -1)
        self.late: dict[int, Run] = {}
        self.consumed: dict[int, str] = {}
        self.fragments: list[BoundFragment] = []
        self.numbers: dict[tuple[Any, ...], int] = {}
        self.modules: dict[tuple[Any, ...], int] = {}
        self.mesh_of: dict[tuple[int, ...], str] = {}

    def plan(self) -> Plan:
        program = self.program
        for step in program.steps:
            if isinstance(step, ifrt.Call):
                self.mesh_of.setdefault(step.devices, step.mesh)
        for step in program.steps:
            if isinstance(step, ifrt.Call):
                self._call(step)
            else:
                self._transfer(step)
        results = self._results()
        return Plan(
            name=program.name,
            types=tuple(self.types),
            num_arguments=program.num_arguments,
            donated=program.donated,
            results=results,
            steps=tuple(step for group in self.groups for step in group),
            fragments=tuple(self.fragments),
        )

    def _call(self, call: ifrt.Call) -> None:
        name = self.program.fragments[call.fragment].name
        self._check_inputs(call, name)
        self._need(call.inputs)
        fragment = self._fragment_of(call)
        self._consume(call, name)
        self.groups.append([])
        self._add(Run(fragment, call.inputs, call.outputs, call.mesh, call.devices))

    def _transfer(self, transfer: ifrt.Transfer) -> None:
        self._need(transfer.inputs)
        for source, target in zip(transfer.inputs, transfer.outputs, strict=True):
            self._check_alive(source, "the source of a transfer")
            before, after = self.types[source], self.types[target]
            if (before.shape, before.dtype) != (after.shape, after.dtype):
                raise LoadError(f"a transfer cannot turn {before} into {after}")
            same = before.sharding.same_placement(after.sharding)
            if same and len(before.devices) == len(after.devices):
                self._add(Copy(source, target, None, before.devices))
            else:
                self._reshard(source, target)

    def _reshard(self, source: int, target: int) -> None:
        plan = plan_reshard(self.types[source], self.types[target])
        sent = source
        if not _same_layout(plan.source, plan.sent):
            last = plan.source.devices == plan.target.devices
            sent = target if last else self._value(plan.sent)
            self._add(self._reshard_run((source,), (sent,)))
        if plan.sent.devices == plan.received.devices:
            return
        direct = _same_layout(plan.received, plan.target)
        received = target if direct else self._value(plan.received)
        identity = tuple(range(len(plan.received.devices)))
        whole = plan.picks == identity and len(identity) == len(plan.sent.devices)
        self._add(Copy(sent, received, None if whole else plan.picks, plan.sent.devices))
        if not direct:
            # Only when it is used: until then the destination has other things to do.
            self.late[target] = self._reshard_run((received,), (target,))
            self.group_of[target] = self.group_of[received]

    def _reshard_run(
        self, sources: tuple[int, ...], targets: tuple[int, ...], donate: bool = False
    ) -> Run:
        before, after = ([self.types[value] for value in ends] for ends in (sources, targets))
        module = reshard_module(before, after, donate)
        devices = before[0].devices
        fragment = self._fragment(module, devices, tuple(before), tuple(after))
        mesh = self.mesh_of.get(devices, f"devices {list(devices)}")
        return Run(fragment, sources, targets, mesh, devices)

    def _results(self) -> tuple[int, ...]:
        """Gives every result an array of its own; a returned argument must not be the argument."""
        self._need(self.program.results)
        self.groups.append([])
        uses = collections.Counter(self.program.results)
        taken_over: dict[tuple[int, ...], list[tuple[int, int]]] = {}
        seen: set[int] = set()
        results: list[int] = []
        for value in self.program.results:
            self._check_alive(value, "the result")
            is_argument = value < self.program.num_arguments
            own = value
            if is_argument or value in seen:
                own = self._value(self.types[value])
                devices = self.types[value].devices
                if is_argument and self.program.donated[value] and uses[value] == 1:
                    taken_over.setdefault(devices, []).append((value, own))
                else:
                    self._add(Copy(value, own, None, devices))
            seen.add(value)
            results.append(own)
        for pairs in taken_over.values():
            # One program for all, that aliases its results to its arguments and so moves nothing.
            sources, targets = zip(*pairs, strict=True)
            self._add(self._reshard_run(sources, targets, donate=True))
        return tuple(results)

    def _need(self, values: Sequence[int]) -> None:
        for value in values:
            run = self.late.pop(value, None)
            if run is not None:
                self.groups[-1].append(run)
                self.group_of[value] = len(self.groups) - 1

    def _add(self, step: Step) -> None:
        """Adds a step to the group of its source; calls and uses of arguments to the last one."""
        if isinstance(step, Run):
            inputs, outputs = step.inputs, step.outputs
        else:
            inputs, outputs = (step.input,), (step.output,)
        is_call = isinstance(step, Run) and not self.groups[-1]
        group = -1 if is_call else min(self.group_of[value] for value in inputs)
        if group < 0:
            group = len(self.groups) - 1
        self.groups[group].append(step)
        self.group_of.update(dict.fromkeys(outputs, group))

    def _value(self, array: ArrayType) -> int:
        self.types.append(array)
        return len(self.types) - 1

    def _fragment_of(self, call: ifrt.Call) -> int:
        types = [self.types[value] for value in (*call.inputs, *call.outputs)]
        # Types are interned by the reader, and thousands of calls share a few fragments.
        key = (call.fragment, call.devices, call.donated, call.aliases, *map(id, types))
        if key not in self.modules:
            inputs, outputs = types[: len(call.inputs)], types[len(call.inputs) :]
            fragment = self.program.fragments[call.fragment]
            module = ifrt.fragment_module(fragment, call, inputs, outputs)
            number = self._fragment(module, call.devices, tuple(inputs), tuple(outputs))
            self.modules[key] = number
        return self.modules[key]

    def _fragment(
        self,
        module: FragmentModule,
        devices: tuple[int, ...],
        inputs: tuple[ArrayType, ...],
        outputs: tuple[ArrayType, ...],
    ) -> int:
        # Types are part of it: each must be checked against the shardings of the compiled code.
        key = (module.text, devices, inputs, outputs)
        if key not in self.numbers:
            self.numbers[key] = len(self.fragments)
            self.fragments.append(BoundFragment(module, devices, inputs, outputs))
        return self.numbers[key]

    def _check_inputs(self, call: ifrt.Call, name: str) -> None:
        for kind, values in (("input", call.inputs), ("output", call.outputs)):
            for index, value in enumerate(values):
                if self.types[value].devices != call.devices:
                    raise LoadError(
                        f"{kind} {index} of {name} is on devices {list(self.types[value].devices)}"
                        f", but the call is on {list(call.devices)}"
                    )
        for index, value in enumerate(call.inputs):
            self._check_alive(value, f"input {index} of {name}")

    def _consume(self, call: ifrt.Call, name: str) -> None:
        """Notes which values the call donates; nothing may use them afterwards."""
        for index in sorted({*call.donated, *(source for source, _ in call.aliases)}):
            if not 0 <= index < len(call.inputs):
                raise LoadError(f"{name} donates its input {index}, which it does not have")
            value = call.inputs[index]
            if value < self.program.num_arguments and not self.program.donated[value]:
                raise LoadError(
                    f"{name} donates argument {value} of the program, which is not ifrt.donated"
                )
            if call.inputs.count(value) > 1:
                raise LoadError(f"{name} donates its input {index} and also uses it otherwise")
            self.consumed[value] = name

    def _check_alive(self, value: int, use: str) -> None:
        if value in self.consumed:
            raise LoadError(f"{use} was donated to {self.consumed[value]} before")


def _same_layout(one: ArrayType, other: ArrayType) -> bool:
    """Whether no program is needed between them (they may be on different devices)."""
    same_devices = one.devices == other.devices
    return not same_devices or one.sharding.same_placement(other.sharding)
