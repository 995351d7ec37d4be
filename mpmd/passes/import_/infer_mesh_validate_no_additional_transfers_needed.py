"""Mesh inference, a check: every computation can be done where it is needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.passes.base import Pass
from mpmd.passes.import_._error_limit import Errors, error_limit
from mpmd.passes.import_._mesh_graph import ASSIGN, Function, Node, read_module
from mpmd.passes.import_._mesh_reports import HINT, RULE, Reporter, listed, operation_line
from mpmd.passes.import_._mesh_sets import SRC_SET, USE_SET, Meshes, names, read_all, read_from


@dataclass(frozen=True)
class InferMeshValidateNoAdditionalTransfersNeeded(Pass):
    """Fails where a computation is needed on a mesh on which it cannot be done.

        %1 = stablehlo.sine %0 {mpmd.src_set = <"m1">, mpmd.use_set = <"m1", "m2">}
      ~~> error, with the places where the meshes of its operands and of its users were decided

    Requires use sets and source sets. Not needed when transfers are inferred.
    """

    name: ClassVar[str] = "mpmd-infer-mesh-validate-no-additional-transfers-needed"
    error_limit: int = error_limit()

    def run(self, module: ir.Operation) -> None:
        graph = read_module(module)
        reporter = Reporter(graph)
        errors = Errors(self.error_limit)
        for function in reversed(graph.values()):
            self._check(function, reporter, errors)
        errors.raise_any()

    def _check(self, function: Function, reporter: Reporter, errors: Errors) -> None:
        found = False
        for node in reversed(list(function.nodes())):
            if errors.is_full:
                return
            if node.is_meshless or node.name == ASSIGN:
                sources, uses = read_from(node.op, SRC_SET), read_from(node.op, USE_SET)
                if not _is_inside(uses, sources):
                    found = True
                    text = _operation_message(function, node, uses or (), sources or (), reporter)
                    errors.add(node.op, text)
        if not found and not function.is_entry:
            self._check_arguments(function, reporter, errors)

    def _check_arguments(self, function: Function, reporter: Reporter, errors: Errors) -> None:
        """Reports values that a callee only passes on."""
        arguments = function.body.arguments
        all_sources = read_all(function.op, "arg_attrs", SRC_SET, len(arguments))
        all_uses = read_all(function.op, "arg_attrs", USE_SET, len(arguments))
        for index, (sources, uses) in enumerate(zip(all_sources, all_uses, strict=True)):
            if not _is_inside(uses, sources):
                subject = f'arg{index} of mpmd.call "{function.name}"'
                lines = _heading(subject, uses or (), sources or ())
                lines += _reasons(function, [arguments[index]], [arguments[index]], reporter)
                errors.add(function.op.location, "\n".join(lines))


def _is_inside(uses: Meshes | None, sources: Meshes | None) -> bool:
    return uses is None or sources is None or set(names(uses)) <= set(names(sources))


def _heading(subject: str, uses: Meshes, sources: Meshes) -> list[str]:
    first = (
        f"Mesh assignment is not possible for {subject} as it is used in {listed(uses)} but it "
        f"can only be placed on {listed(sources)} without introducing a transfer. "
        "Add an explicit transfer to fix this."
    )
    return [first, HINT, RULE]


def _operation_message(
    function: Function, node: Node, uses: Meshes, sources: Meshes, reporter: Reporter
) -> str:
    lines = _heading("op", uses, sources)
    lines += ["Op: ", f"\t{operation_line(node.op)}", ""]
    lines.append(
        f"Can be assigned to meshes: {listed(sources)} which originates from the intersection of:"
    )
    needed = node.operands if node.name == ASSIGN else node.results
    lines += reporter.sources(function, node.operands)
    lines += [
        "",
        f"But was used in meshes: {listed(uses)} which originates from the union of:",
        *reporter.uses(function, needed),
        RULE,
    ]
    return "\n".join(lines)


def _reasons(
    function: Function, made: list[int], needed: list[int], reporter: Reporter
) -> list[str]:
    return [
        "Can be there because of:",
        *reporter.sources(function, made),
        "",
        "Is used because of:",
        *reporter.uses(function, needed),
        RULE,
    ]
