"""Where the sets of mesh inference come from, told to the user.

Errors of inference are about values that came together from far away; a report names the places
where a mesh was decided, across calls.
"""

from __future__ import annotations

from collections.abc import Iterable

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.functions import callee_name, terminator
from mpmd.passes.import_._mesh_graph import ASSIGN, CALL, UNASSIGN, Function, Node
from mpmd.passes.import_._mesh_sets import (
    SRC_SET,
    USE_SET,
    Meshes,
    names,
    read_all,
    read_from,
)

RULE = "-" * 51
HINT = "To handle this automatically, set `mpmd_infer_transfers` in the partitioning options."

_Place = tuple[Function, int]


class Reporter:
    """Describes the sets of the values of a module."""

    def __init__(self, graph: dict[str, Function]) -> None:
        self.graph = graph
        self.producers: dict[str, dict[int, Node]] = {}
        self.users: dict[str, dict[int, list[Node]]] = {}
        self.calls: dict[str, list[tuple[Function, Node]]] = {}
        for function in graph.values():
            producers = self.producers[function.name] = {}
            users = self.users[function.name] = {}
            for node in function.nodes():
                producers.update(dict.fromkeys(node.results, node))
                for value in dict.fromkeys((*node.operands, *node.captured)):
                    users.setdefault(value, []).append(node)
                if node.name == CALL:
                    self.calls.setdefault(callee_name(node.op), []).append((function, node))

    def sources(self, function: Function, values: Iterable[int]) -> list[str]:
        """Returns a line for every place that decides where `values` can be."""
        lines: list[str] = []
        pending: list[_Place] = [(function, value) for value in values]
        seen = set(pending)
        while pending:
            where, value = pending.pop()
            found, more = self._source(where, value)
            if found:
                location, meshes = found
                lines.append(f" - Input {location}: {_with_origins(meshes)}")
            for place in more:
                if place not in seen:
                    seen.add(place)
                    pending.append(place)
        return lines

    def _source(
        self, function: Function, value: int
    ) -> tuple[tuple[ir.Location, Meshes] | None, list[_Place]]:
        node = self.producers[function.name].get(value)
        if node is None:
            return self._argument_source(function, value)
        if node.name == CALL:
            callee = self.graph.get(callee_name(node.op))
            if callee is None:
                return None, []
            return None, [(callee, callee.body.returned[node.results.index(value)])]
        if node.name == UNASSIGN:
            return (node.op.location, read_from(node.op, SRC_SET) or ()), []
        return None, [(function, each) for each in node.operands] if node.is_meshless else []

    def _argument_source(
        self, function: Function, value: int
    ) -> tuple[tuple[ir.Location, Meshes] | None, list[_Place]]:
        arguments = function.body.arguments
        if value not in arguments:
            return None, []
        index = arguments.index(value)
        if not function.is_entry:
            calls = self.calls.get(function.name, [])
            return None, [(caller, node.operands[index]) for caller, node in calls]
        meshes = read_all(function.op, "arg_attrs", SRC_SET, len(arguments))[index]
        return (function.values[value].location, meshes or ()), []

    def uses(self, function: Function, values: Iterable[int]) -> list[str]:
        """Returns a line for every place that decides where `values` are needed."""
        lines: list[str] = []
        pending: list[_Place] = [(function, value) for value in values]
        seen = set(pending)
        while pending:
            where, value = pending.pop()
            more: list[_Place] = []
            for node in self.users[where.name].get(value, []):
                if node.name == ASSIGN:
                    meshes = read_from(node.op, USE_SET) or ()
                    lines.append(f" - Output {node.op.location}: {_with_origins(meshes)}")
                elif node.name == CALL and callee_name(node.op) in self.graph:
                    callee = self.graph[callee_name(node.op)]
                    more.extend(
                        (callee, argument)
                        for argument, operand in zip(
                            callee.body.arguments, node.operands, strict=True
                        )
                        if operand == value
                    )
                elif node.is_meshless:
                    more.extend((where, result) for result in node.results)
            if where.is_entry and value in where.body.returned:
                lines.append(f" - Output {terminator(where.body.block).location}: ")
            more.extend(self._returned_to(where, value))
            for place in reversed(more):
                if place not in seen:
                    seen.add(place)
                    pending.append(place)
        return lines

    def _returned_to(self, function: Function, value: int) -> list[_Place]:
        calls = self.calls.get(function.name, [])
        return [
            (caller, node.results[index])
            for index, returned in enumerate(function.body.returned)
            if returned == value
            for caller, node in calls
        ]


def listed(meshes: Meshes) -> str:
    """Returns `{m1,m2}`."""
    return "{" + ",".join(names(meshes)) + "}"


def _with_origins(meshes: Meshes) -> str:
    return ", ".join(f"{mesh}[{', '.join(origins)}]" for mesh, origins in meshes)


def stack_trace(location: ir.Location) -> list[str]:
    """Returns the lines of the user's program that led to `location`, the innermost first."""
    if isinstance(location, ir.NameLoc):
        return stack_trace(location.child_loc)
    if isinstance(location, ir.CallSiteLoc):
        return [*_frames(location.callee), *_frames(location.caller)]
    return []


def _frames(location: ir.Location) -> list[str]:
    if isinstance(location, ir.FileLineColLoc):
        return [f"  {location.filename}:{location.start_line}:{location.start_col}"]
    if isinstance(location, ir.NameLoc):
        return [f"{line} in {location.name_str}" for line in _frames(location.child_loc)]
    return stack_trace(location)


def operation_line(op: ir.Operation) -> str:
    """Returns the first line of the text of `op`."""
    return str(op).strip().partition("\n")[0]
