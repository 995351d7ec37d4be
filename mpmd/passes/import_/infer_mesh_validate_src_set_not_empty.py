"""Mesh inference, a check: every computation can be done somewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.passes.base import Pass
from mpmd.passes.import_._error_limit import Errors, error_limit
from mpmd.passes.import_._mesh_graph import ASSIGN, Function, Node, read_module
from mpmd.passes.import_._mesh_reports import (
    HINT,
    RULE,
    Reporter,
    listed,
    operation_line,
    stack_trace,
)
from mpmd.passes.import_._mesh_sets import (
    NOWHERE,
    SRC_SET,
    USE_SET,
    Meshes,
    read_all,
    read_from,
)
from mpmd.passes.import_._reductions import annotated_kind


@dataclass(frozen=True)
class InferMeshValidateSrcSetNotEmpty(Pass):
    """Fails where the operands of a computation are on meshes that have none in common.

        %2 = stablehlo.subtract %0, %1 {mpmd.src_set = #mpmd.meshes_with_origins<>}
      ~~> error, with the places where the meshes of %0 and %1 were decided

    The first computations with such operands are reported, not all that depend on them, and
    arguments of callees that different calls give values of different meshes. Requires source
    sets. Not needed when transfers are inferred.
    """

    name: ClassVar[str] = "mpmd-infer-mesh-validate-src-set-not-empty"
    error_limit: int = error_limit()

    def run(self, module: ir.Operation) -> None:
        graph = read_module(module)
        reporter = Reporter(graph)
        errors = Errors(self.error_limit)
        sources = {name: _known_sources(function) for name, function in graph.items()}
        for name, function in graph.items():
            returned = [sources[name].get(value) for value in function.body.returned]
            for caller, node in reporter.calls.get(name, []):
                known = zip(node.results, returned, strict=True)
                sources[caller.name].update({v: m for v, m in known if m is not None})
        for name, function in graph.items():
            self._check_arguments(function, sources, reporter, errors)
            for node in _conflicts(function, sources[name]):
                if errors.is_full:
                    break
                message = _operation_message(function, node, sources[name], reporter)
                errors.add(node.op, message)
        errors.raise_any()

    def _check_arguments(
        self,
        function: Function,
        sources: dict[str, dict[int, Meshes]],
        reporter: Reporter,
        errors: Errors,
    ) -> None:
        calls = reporter.calls.get(function.name, [])
        for index, argument in enumerate(function.body.arguments):
            if sources[function.name].get(argument) != NOWHERE:
                continue
            given = [sources[caller.name].get(node.operands[index]) for caller, node in calls]
            if NOWHERE not in given and not errors.is_full:
                message = _argument_message(function, index, len(calls), reporter)
                errors.add(function.op.location, message)


def _known_sources(function: Function) -> dict[int, Meshes]:
    """Returns the source sets of the values that have one."""
    arguments = function.body.arguments
    sets = read_all(function.op, "arg_attrs", SRC_SET, len(arguments))
    known = {value: meshes for value, meshes in zip(arguments, sets, strict=True)}
    for node in function.nodes():
        if node.carries_sets:
            known.update(dict.fromkeys(node.results, read_from(node.op, SRC_SET)))
    return {value: meshes for value, meshes in known.items() if meshes is not None}


def _conflicts(function: Function, sources: dict[int, Meshes]) -> list[Node]:
    """Returns the computations that cannot be anywhere, those first in their chain.

    A reduction that stayed a computation is one: its set says where its operands are, not where
    they come together.
    """
    found = []
    impossible = {value for value, meshes in sources.items() if meshes == NOWHERE}
    for node in function.nodes():
        if not (node.is_meshless or node.name == ASSIGN):
            continue
        meshes = read_from(node.op, SRC_SET)
        if meshes == NOWHERE or (meshes and annotated_kind(node.op) is not None):
            if impossible.isdisjoint(node.operands):
                found.append(node)
            impossible.update(node.results)
    return found


def _operation_message(
    function: Function, node: Node, sources: dict[int, Meshes], reporter: Reporter
) -> str:
    hint = HINT if annotated_kind(node.op) is None else _REDUCTION_HINT
    lines = [_CONFLICT.format("op as its operands are"), hint, RULE]
    lines += ["Op: ", f"\t{operation_line(node.op)}", ""]
    lines += ["Operands with possibly conflicting meshes:", ""]
    for index, value in enumerate(node.operands):
        meshes = sources.get(value)
        if meshes is None:
            where = "any mesh and originates from the intersections of:"
        else:
            where = f"meshes {listed(meshes)} which originates from:"
        lines.append(f" - Operand {index} can be assigned to {where}")
        lines += ["  " + line for line in reporter.sources(function, [value])]
    lines.append("")
    used = read_from(node.op, USE_SET)
    lines.append(
        f"Op is used in meshes {listed(used)} which originates from the union of:"
        if used
        else "Op is used in:"
    )
    lines += [*reporter.uses(function, node.results), ""]
    lines += ["Op stack trace:", "", *stack_trace(node.op.location), "", RULE]
    return "\n".join(lines)


def _argument_message(function: Function, index: int, count: int, reporter: Reporter) -> str:
    argument = function.body.arguments[index]
    subject = f'arg{index} of mpmd.call "{function.name}" as its caller operands are'
    used = read_all(function.op, "arg_attrs", USE_SET, len(function.body.arguments))[index] or ()
    lines = [_CONFLICT.format(subject), HINT, RULE]
    lines.append(
        f"mpmd.call was called {count} times and can be assigned to meshes: {{}} "
        "which originates from the intersection of:"
    )
    lines += [*reporter.sources(function, [argument]), ""]
    lines.append(f"Arg is used in meshes {listed(used)} which originates from the union of:")
    lines += [*reporter.uses(function, [argument]), RULE]
    return "\n".join(lines)


_CONFLICT = (
    "Mesh assignment is not possible for {} on conflicting meshes and thus we need to transfer "
    "some of the operands. Add an explicit transfer to fix this."
)
_REDUCTION_HINT = HINT.replace("infer_transfers", "infer_cross_mesh_reductions")
