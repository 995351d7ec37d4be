"""Loads an IFRT program: reads, plans, compiles and binds it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
from jax.sharding import Sharding

from mpmd.dialect import ifrt
from mpmd.runtime.arguments import Argument, Signature
from mpmd.runtime.errors import LoadError
from mpmd.runtime.executables import Compiler, Progress
from mpmd.runtime.executor import LoadedProgram, Prepared
from mpmd.runtime.plan import Plan, make_plan
from mpmd.runtime.sharding import jax_sharding, same_placement

STALL_TIMEOUT = 600.0


def load(
    module: Any,
    devices: Sequence[jax.Device] | None = None,
    *,
    name: str | None = None,
    argument_names: Sequence[str] | None = None,
    input_shardings: Sequence[Sharding | None] | None = None,
    output_shardings: Sequence[Sharding | None] | None = None,
    place: bool = False,
    compile_options: Mapping[str, Any] | None = None,
    host_callbacks: Sequence[Any] = (),
    progress: Callable[[Progress], None] | None = None,
    stall_timeout: float | None = STALL_TIMEOUT,
) -> LoadedProgram:
    """Returns an IFRT program compiled for and bound to devices.

    Args:
        module: the program, as text, bytecode or an `ir.Module`.
        devices: device id i of the program is `devices[i]`; by default all devices of JAX.
        name: what errors and logs call the program; by default the name of its function.
        argument_names: what errors call the arguments, such as paths into the caller's trees.
        input_shardings: shardings to place arguments with, equal in effect to the program's types;
            None where the type is enough.
        output_shardings: shardings that results shall have, equal in effect to the types.
        place: whether a call puts arguments where they belong: numpy arrays, Python numbers, and
            arrays on other devices. Otherwise they are errors.
        compile_options: options of XLA, as `jax.jit` takes them.
        host_callbacks: the callbacks that the fragments refer to, as JAX collects them in lowering.
        progress: called for each executable that is ready.
        stall_timeout: seconds without any progress after which a step fails; None waits for ever.

    """
    program = _read(module)
    chosen = _choose_devices(program, devices)
    plan = make_plan(program)
    arguments = _arguments(plan, chosen, argument_names, input_shardings)
    shardings = _shardings(plan, chosen, output_shardings)
    compiler = Compiler(chosen, compile_options or {}, host_callbacks, progress)
    executables = compiler.compile(plan.fragments)
    return LoadedProgram(
        Prepared(
            name=name or plan.name,
            plan=plan,
            devices=chosen,
            executables=tuple(executables),
            shardings=shardings,
            signature=Signature(arguments, chosen, place),
            stall_timeout=stall_timeout,
        )
    )


def _read(module: Any) -> ifrt.Program:
    try:
        return ifrt.read_program(module)
    except ifrt.IfrtError as error:
        raise LoadError(str(error)) from error


def _choose_devices(
    program: ifrt.Program, devices: Sequence[jax.Device] | None
) -> tuple[jax.Device, ...]:
    chosen = tuple(jax.devices() if devices is None else devices)
    if len(chosen) < program.num_devices:
        raise LoadError(f"the program needs {program.num_devices} devices, but got {len(chosen)}")
    if len(set(chosen)) != len(chosen):
        raise LoadError("a device is listed twice")
    for device in chosen[: program.num_devices]:
        if device.process_index != jax.process_index():
            raise LoadError(f"{device} belongs to another process")
    return chosen


def _arguments(
    plan: Plan,
    devices: Sequence[jax.Device],
    names: Sequence[str] | None,
    shardings: Sequence[Sharding | None] | None,
) -> list[Argument]:
    count = plan.num_arguments
    names = [f"argument {index}" for index in range(count)] if names is None else names
    shardings = [None] * count if shardings is None else shardings
    _check_count("argument_names", names, count)
    _check_count("input_shardings", shardings, count)
    made: dict[int, Sharding] = {}
    return [
        Argument(
            names[index],
            plan.types[index],
            _sharding(plan, index, devices, shardings[index], names[index], made),
            plan.donated[index],
        )
        for index in range(count)
    ]


def _shardings(
    plan: Plan, devices: Sequence[jax.Device], wanted: Sequence[Sharding | None] | None
) -> tuple[Sharding, ...]:
    """Returns the sharding of every value; results have those that the caller wants."""
    wanted = [None] * len(plan.results) if wanted is None else wanted
    _check_count("output_shardings", wanted, len(plan.results))
    by_value = dict(zip(plan.results, wanted, strict=True))
    made: dict[int, Sharding] = {}
    return tuple(
        _sharding(plan, value, devices, by_value.get(value), "a result", made)
        for value in range(len(plan.types))
    )


def _sharding(
    plan: Plan,
    value: int,
    devices: Sequence[jax.Device],
    wanted: Sharding | None,
    what: str,
    made: dict[int, Sharding],
) -> Sharding:
    array = plan.types[value]
    if wanted is not None:
        if not same_placement(wanted, array, devices):
            raise LoadError(f"the sharding {wanted} for {what} disagrees with its type {array}")
        return wanted
    if id(array) not in made:
        made[id(array)] = jax_sharding(array, devices)
    return made[id(array)]


def _check_count(what: str, given: Sequence[Any], count: int) -> None:
    if len(given) != count:
        raise LoadError(f"{what} has {len(given)} entries, but the program has {count}")
