"""mpmd-lower-to-fragment-calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import Origin
from mpmd.dialect.diagnostics import report
from mpmd.dialect.fragment import Bodies, Fragment, fragments
from mpmd.dialect.functions import (
    callee_name,
    entry_block,
    functions,
    is_mpmd_function,
    is_private,
    symbol_name,
    topology_of,
)
from mpmd.passes.base import Pass, option
from mpmd.passes.common._outlining import Outliner
from mpmd.passes.export._program_functions import become_program, call_program
from mpmd.passes.export._programs import (
    EqualBodies,
    Program,
    collect_programs,
    direction,
    is_training,
    program_name,
)


@dataclass(frozen=True)
class LowerToFragmentCalls(Pass):
    """Turns fragments into calls of functions, one function for each distinct program.

    Fragments with equal bodies on the same mesh share a function; what the fragments say of their
    operands and results moves onto its arguments and results, and the function is named after what
    it does. Fragment calls from outlining are treated alike: their shared bodies become programs.

        %1 = mpmd.fragment<mesh="m", origin=["f"]> (%0) {call_counter = 0} (%a) {...}
        %2 = mpmd.fragment<mesh="m", origin=["f"]> (%1) {call_counter = 1} (%a) {...}
        ~~>
        %1 = mpmd.fragment_call<mesh="m", origin=["f"]> @p0_f.main(%0)
        %2 = mpmd.fragment_call<mesh="m", origin=["f"]> @p0_f.main(%1)
        func.func @p0_f.main(%a) attributes {mesh_shape = ...} {...}

    Never touches calls of functions that are programs already: those are not private.
    """

    name: ClassVar[str] = "mpmd-lower-to-fragment-calls"

    verbose_logging: bool = option(False, "Report which programs each mesh will run.")

    def run(self, module: ir.Operation) -> None:
        """Lowers all fragments of `module`."""
        bodies = Bodies(module)
        calls = _outlined(module, bodies)
        programs = collect_programs(calls, EqualBodies(bodies))
        in_training = is_training(calls)
        _make_functions(module, programs, bodies, in_training)
        if self.verbose_logging:
            _report(programs, in_training)
        for program in programs:
            call_program(program)


def _outlined(module: ir.Operation, bodies: Bodies) -> list[Fragment]:
    """Gives each fragment of `module` a body function; returns the calls that are to be lowered."""
    outliner = Outliner(bodies)
    calls = []
    for func in functions(module):
        if not is_mpmd_function(func):
            continue
        meshes = topology_of(func)
        for fragment in fragments(entry_block(func)):
            if not fragment.is_call:
                calls.append(outliner.outline(fragment, meshes[fragment.mesh]))
            elif is_private(bodies.function(callee_name(fragment.op))):
                calls.append(fragment)
    return calls


def _make_functions(
    module: ir.Operation, programs: Sequence[Program], bodies: Bodies, in_training: bool
) -> None:
    """Makes the function of each program out of its body, and erases the bodies left over."""
    block = module.regions[0].blocks[0]
    of_module = symbol_name(module) if "sym_name" in module.attributes else "main"
    called = {callee_name(each.op) for program in programs for each in program.fragments}
    names = set(_symbols(block))
    # A finished program may have the body of a fragment: its function is not to be taken.
    finished = {name for name in called if not is_private(bodies.function(name))}
    taken = set(finished)
    for number, program in enumerate(programs):
        name = _unique(program_name(program, number, in_training, of_module), names)
        func = bodies.function(program.body)
        if program.body in taken:
            func = func.clone(ip=ir.InsertionPoint(block)).operation
        else:
            block.append(func)
        taken.add(program.body)
        become_program(func, name, program)
    for name in called - taken:
        bodies.function(name).erase()


def _symbols(block: ir.Block) -> Iterator[str]:
    for op in block.operations:
        if "sym_name" in op.operation.attributes:
            yield symbol_name(op.operation)


def _unique(hint: str, names: set[str]) -> str:
    name, count = hint, 0
    while name in names:
        name, count = f"{hint}_{count}", count + 1
    names.add(name)
    return name


def _report(programs: Sequence[Program], in_training: bool) -> None:
    lines: dict[tuple[ir.Operation, str], list[str]] = {}
    for program in programs:
        for fragment in program.fragments:
            labels = ", ".join(_label(origin, in_training) for origin in fragment.origins)
            counter = fragment.call_counter
            call = "" if counter is None else f", call counter {counter}"
            func = fragment.op.parent
            assert func is not None, "fragments stand in functions"
            lines.setdefault((func.operation, fragment.mesh), []).append(
                f"{program.name} from a fragment with origins [{labels}]{call}"
            )
    for (caller, mesh), each in lines.items():
        report("remark", caller, "\n  ".join([f"mesh {mesh} will run these programs:", *each]))


def _label(origin: Origin, in_training: bool) -> str:
    return f"{origin.name}({direction(origin.transpose_count)})" if in_training else origin.name
