"""Mesh inference, step 1: where is every value needed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.functions import callee_name
from mpmd.passes.base import Pass
from mpmd.passes.import_._mesh_graph import (
    ASSIGN,
    BROADCAST,
    CALL,
    REDUCE_OP,
    Body,
    Function,
    reachable,
    read_module,
)
from mpmd.passes.import_._mesh_sets import (
    NOWHERE,
    USE_SET,
    Meshes,
    attribute,
    names,
    on_mesh_of,
    read_all,
    read_from,
    union,
    write_all,
)


@dataclass(frozen=True)
class InferMeshPopulateUseSet(Pass):
    """Marks every computation with the meshes on which its results are needed.

    Use sets start at `mpmd.assign` and go backward, from users to operands, through calls and
    loops; they add up. A broadcast or a reduce ends them: it brings its operands to where they are
    needed, unless the operand is itself a broadcast.

        %0 = stablehlo.add %arg0, %arg0
        %1 = mpmd.assign {origin = "f"} %0 : (T) -> mesh_tensor<"m1", T>
      ~~>
        %0 = stablehlo.add %arg0, %arg0 {mpmd.use_set = #mpmd.meshes_with_origins<"m1"["f"]>}
        %1 = mpmd.assign {mpmd.use_set = #mpmd.meshes_with_origins<"m1"["f"]>, origin = "f"} %0

    Sets that are already there are extended. Each callee is analysed once for all of its calls, or
    a few times where its calls depend on each other. Run after `mpmd-introduce-transfers`.
    """

    name: ClassVar[str] = "mpmd-infer-mesh-populate-use-set"

    def run(self, module: ir.Operation) -> None:
        graph = read_module(module)
        states = {name: _State(function) for name, function in graph.items()}
        pending = reachable(graph)
        while pending:
            name = next(iter(pending))
            del pending[name]
            pending.update(dict.fromkeys(states[name].visit(states)))
        for name in reachable(graph):
            states[name].write()


_BRINGING = frozenset((BROADCAST, REDUCE_OP))
_PASSING = _BRINGING | {ASSIGN}


@dataclass
class _State:
    """What is known of one function."""

    function: Function
    sets: list[Meshes] = field(init=False)
    results: list[Meshes] = field(init=False)
    arguments: list[Meshes] = field(init=False)

    def __post_init__(self) -> None:
        op, body = self.function.op, self.function.body
        self.initial = [NOWHERE] * len(self.function.values)
        self.broadcasts: set[int] = set()
        self._read_arguments(op, body)
        for node in self.function.nodes():
            if node.name == BROADCAST:
                self.broadcasts.update(node.results)
            if node.name == ASSIGN:
                self.initial[node.results[0]] = on_mesh_of(node.op.results[0], node.op)
            elif node.carries_sets:
                meshes = read_from(node.op, USE_SET)
                if meshes:
                    for result in node.results:
                        self.initial[result] = meshes
            elif node.body is not None:
                self._read_arguments(node.op, node.body)
        count = len(body.returned)
        self.results = [m or NOWHERE for m in read_all(op, "res_attrs", USE_SET, count)]
        self.arguments = [NOWHERE] * len(body.arguments)

    def _read_arguments(self, op: ir.Operation, body: Body) -> None:
        found = read_all(op, "arg_attrs", USE_SET, len(body.arguments))
        for argument, meshes in zip(body.arguments, found, strict=True):
            self.initial[argument] = meshes or NOWHERE

    def visit(self, states: dict[str, _State]) -> list[str]:
        """Analyses the function anew; returns the functions that it teaches something."""
        self.sets = list(self.initial)
        changed: list[str] = []
        results = [NOWHERE] * len(self.results) if self.function.is_entry else self.results
        self._visit_body(self.function.body, results, states, changed)
        arguments = [self.sets[argument] for argument in self.function.body.arguments]
        if arguments != self.arguments:
            self.arguments = arguments
            changed.extend(caller.name for caller in self.function.callers)
        return changed

    def _visit_body(
        self, body: Body, results: list[Meshes], states: dict[str, _State], changed: list[str]
    ) -> None:
        for value, meshes in zip(body.returned, results, strict=True):
            self._add(value, meshes)
        for node in reversed(body.nodes):
            if node.name == CALL:
                self._visit_call(node.op, node.operands, node.results, states, changed)
            elif node.body is not None:
                self._visit_body(node.body, [self.sets[r] for r in node.results], states, changed)
                for value, argument in zip(node.operands, node.body.arguments, strict=False):
                    self._add(value, self.sets[argument])
            elif node.name in _PASSING or node.is_meshless:
                meshes = self.set_of(node.results)
                for value in (*node.operands, *node.captured) if meshes else ():
                    if node.name not in _BRINGING or value in self.broadcasts:
                        self._add(value, meshes)

    def _visit_call(
        self,
        op: ir.Operation,
        operands: list[int],
        results: list[int],
        states: dict[str, _State],
        changed: list[str],
    ) -> None:
        callee = states.get(callee_name(op))
        if callee is None:
            return
        for index, result in enumerate(results):
            meshes = union(callee.results[index], self.sets[result])
            # An additional origin of a mesh is no news: what calls have found out before stays.
            if names(meshes) != names(callee.results[index]):
                callee.results[index] = meshes
                changed.append(callee.function.name)
        for value, meshes in zip(reversed(operands), reversed(callee.arguments), strict=True):
            self._add(value, meshes)

    def _add(self, value: int, meshes: Meshes) -> None:
        if meshes:
            self.sets[value] = union(self.sets[value], meshes)

    def set_of(self, values: list[int]) -> Meshes:
        meshes = NOWHERE
        for value in values:
            meshes = union(meshes, self.sets[value])
        return meshes

    def write(self) -> None:
        """Sets the attributes."""
        for node in self.function.nodes():
            if node.carries_sets:
                meshes = self.set_of(node.results)
                if meshes:
                    node.op.attributes[USE_SET] = attribute(meshes)
            elif node.body is not None:
                self._write_all(node.op, "arg_attrs", [self.sets[a] for a in node.body.arguments])
        self._write_all(self.function.op, "arg_attrs", self.arguments)
        self._write_all(self.function.op, "res_attrs", self.results)

    def _write_all(self, op: ir.Operation, where: str, sets: list[Meshes]) -> None:
        write_all(op, where, USE_SET, [meshes or None for meshes in sets])
