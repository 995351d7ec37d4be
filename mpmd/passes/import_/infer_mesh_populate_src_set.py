"""Mesh inference, step 2: where can every value be made."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import is_mesh_tensor, mesh_of
from mpmd.dialect.functions import callee_name
from mpmd.passes.base import Pass
from mpmd.passes.import_._mesh_graph import (
    ASSIGN,
    CALL,
    TRANSFER,
    UNASSIGN,
    Body,
    Function,
    Node,
    reachable,
    read_module,
)
from mpmd.passes.import_._mesh_sets import (
    NOWHERE,
    REDUCE,
    SRC_SET,
    USE_SET,
    Meshes,
    attribute,
    intersection,
    on_mesh_of,
    read_all,
    read_from,
    union,
    with_origin,
    write_all,
)
from mpmd.passes.import_._reductions import annotated_kind, reduction_attribute, reduction_kind


@dataclass(frozen=True)
class InferMeshPopulateSrcSet(Pass):
    """Marks every computation with the meshes on which it could run without another transfer.

    Source sets start at `mpmd.unassign` and at the inputs of the program, which may come to every
    mesh that uses them, and go forward: a computation can run where all of its operands can be. A
    transfer makes its operand available on a second mesh. Broadcasts and reduces bring their
    operands everywhere, hence have no source set, like constants.

        %0 = mpmd.unassign {origin = "f"} %arg0 : (mesh_tensor<"m1", T>) -> T
        %1 = stablehlo.sine %0
      ~~>
        %1 = stablehlo.sine %0 {mpmd.src_set = #mpmd.meshes_with_origins<"m1"["f"]>}

    An addition, multiplication, maximum or minimum of values on different meshes is marked as a
    reduction across meshes, `mpmd.reduce = #mpmd.reduction<add>`, and so are those that go on
    from it; it can run wherever one of its operands is. Requires the use sets.
    """

    name: ClassVar[str] = "mpmd-infer-mesh-populate-src-set"

    def run(self, module: ir.Operation) -> None:
        graph = read_module(module)
        states = {name: _State(function, graph) for name, function in graph.items()}
        pending = reachable(graph)
        while pending:
            name = next(iter(pending))
            del pending[name]
            pending.update(dict.fromkeys(states[name].visit(states)))
        for name in reachable(graph):
            states[name].write()


class _State:
    """What is known of one function; None is the set of all meshes."""

    def __init__(self, function: Function, graph: dict[str, Function]) -> None:
        self.function = function
        self.graph = graph
        self.sets: list[Meshes | None] = []
        self.results: list[Meshes | None] = [None] * len(function.body.returned)
        self.arguments: list[Meshes | None] = [None] * len(function.body.arguments)
        self.fixed: dict[int, Meshes] = {}
        self.kinds: dict[int, str | None] = {}
        self.reductions: dict[int, str] = {}
        self.marked: dict[int, str] = {}
        self._read()

    def _read(self) -> None:
        """Reads the attributes once; `fixed` holds what does not depend on operands."""
        function = self.function
        users = _use_sets_of_users(function, self.graph)
        arguments = set(function.body.arguments) if function.is_entry else set()
        if function.is_entry:
            found = read_all(function.op, "arg_attrs", USE_SET, len(function.body.arguments))
            for index, (argument, meshes) in enumerate(
                zip(function.body.arguments, found, strict=True)
            ):
                if meshes and not is_mesh_tensor(function.values[argument].type):
                    self.arguments[index] = with_origin(meshes, "inferred_in")
        transfers: dict[int, Meshes] = {}
        for node in function.nodes():
            if node.name == TRANSFER:
                mesh = mesh_of(node.op.results[0])
                assert mesh is not None
                key = node.operands[0]
                transfers[key] = union(((mesh, ("transfer",)),), transfers.get(key, NOWHERE))
        for node in function.nodes():
            if node.name == UNASSIGN:
                operand, result = node.operands[0], node.results[0]
                meshes = on_mesh_of(node.op.operands[0], node.op)
                meshes = union(meshes, transfers.get(operand, NOWHERE))
                if operand in arguments:
                    used = users.get(result, NOWHERE)
                    meshes = union(meshes, with_origin(used, "inferred_in"))
                self.fixed[result] = meshes
            elif node.is_meshless or node.name == ASSIGN:
                found_set = read_from(node.op, SRC_SET)
                if found_set is not None:
                    self.fixed[node.results[0] if node.results else -1] = found_set
                if node.results:
                    self._read_reduction(node)

    def _read_reduction(self, node: Node) -> None:
        marked = annotated_kind(node.op)
        kind = marked or reduction_kind(node.op)
        if kind is not None:
            self.kinds[node.results[0]] = kind
        if marked is not None:
            self.reductions[node.results[0]] = marked

    def visit(self, states: dict[str, _State]) -> list[str]:
        """Analyses the function anew; returns the functions that it teaches something."""
        self.sets = [None] * len(self.function.values)
        self.marked = dict(self.reductions)
        changed: list[str] = []
        for argument, meshes in zip(self.function.body.arguments, self.arguments, strict=True):
            self.sets[argument] = meshes
        self._visit_body(self.function.body, states, changed)
        results = [self.sets[value] for value in self.function.body.returned]
        if results != self.results:
            self.results = results
            changed.extend(caller.name for caller in self.function.callers)
        return changed

    def _visit_body(self, body: Body, states: dict[str, _State], changed: list[str]) -> None:
        for node in body.nodes:
            if node.name == CALL:
                self._visit_call(node, states, changed)
            elif node.body is not None:
                for value, argument in zip(node.operands, node.body.arguments, strict=False):
                    self.sets[argument] = self.sets[value]
                self._visit_body(node.body, states, changed)
                for result, value in zip(node.results, node.body.returned, strict=True):
                    self.sets[result] = self.sets[value]
            elif node.name == UNASSIGN:
                self.sets[node.results[0]] = self.fixed[node.results[0]]
            elif node.is_meshless or node.name == ASSIGN:
                meshes = self._source_set(node)
                # The result of an assign is where it was assigned; its set is of its operand.
                for result in node.results if node.is_meshless else ():
                    self.sets[result] = meshes

    def _source_set(self, node: Node) -> Meshes | None:
        result = node.results[0] if node.results else -1
        kind = self.kinds.get(result)
        operands = [s for s in (self.sets[value] for value in node.operands) if s is not None]
        meshes = self.fixed.get(result)
        for each in operands:
            meshes = each if meshes is None else intersection(meshes, each)
        if kind is not None and all(operands):
            before = {self.marked.get(value) for value in node.operands}
            goes_on = kind != "none" and kind in before
            if meshes == NOWHERE or (goes_on and operands):
                self.marked[result] = kind
                meshes = reduce(union, operands)
        if meshes is not None:
            self.fixed[result] = meshes
        return meshes

    def _visit_call(self, node: Node, states: dict[str, _State], changed: list[str]) -> None:
        callee = states.get(callee_name(node.op))
        if callee is None:
            return
        learned = not callee.sets
        for index, value in enumerate(node.operands):
            known, new = callee.arguments[index], self.sets[value]
            if new is None:
                continue
            if known is None or intersection(known, new) != known:
                callee.arguments[index] = new if known is None else intersection(new, known)
                learned = True
        if learned:
            changed.extend(callee.visit(states))
        for result, meshes in zip(node.results, callee.results, strict=True):
            self.sets[result] = meshes

    def write(self) -> None:
        """Sets the attributes."""
        for node in self.function.nodes():
            if node.body is not None:
                sets = [self.sets[argument] for argument in node.body.arguments]
                write_all(node.op, "arg_attrs", SRC_SET, sets)
            elif node.carries_sets and node.results:
                meshes = self.fixed.get(node.results[0])
                if meshes is not None:
                    node.op.attributes[SRC_SET] = attribute(meshes)
                kind = self.marked.get(node.results[0])
                if kind is not None and node.results[0] not in self.reductions:
                    node.op.attributes[REDUCE] = reduction_attribute(kind)
        write_all(self.function.op, "arg_attrs", SRC_SET, self.arguments)


def _use_sets_of_users(function: Function, graph: dict[str, Function]) -> dict[int, Meshes]:
    """Returns where the users of each value need it."""
    users: dict[int, Meshes] = {}
    arguments = {
        name: read_all(graph[name].op, "arg_attrs", USE_SET, len(graph[name].body.arguments))
        for name in function.callees
        if name in graph
    }
    for node in reversed(list(function.nodes())):
        if node.is_meshless or node.name == ASSIGN:
            meshes = read_from(node.op, USE_SET)
            used = [(value, meshes) for value in (*node.operands, *node.captured)]
        elif node.name == CALL and callee_name(node.op) in graph:
            used = list(zip(node.operands, arguments[callee_name(node.op)], strict=True))
        else:
            continue
        for value, meshes in used:
            users[value] = union(users.get(value, NOWHERE), meshes or NOWHERE)
    return users
