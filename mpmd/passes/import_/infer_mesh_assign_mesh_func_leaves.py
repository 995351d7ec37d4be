"""Mesh inference, step 4: what nothing assigned needs a mesh as well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import (
    is_mesh_tensor,
    mesh_tensor_type,
    origins_attribute,
    strings_attribute,
)
from mpmd.dialect.functions import callee_name, topology_of, update_function_type
from mpmd.passes.base import Pass, option
from mpmd.passes.import_._edits import (
    after,
    assign,
    erase_attributes,
    replace_operands,
    unassign,
)
from mpmd.passes.import_._error_limit import Errors, error_limit
from mpmd.passes.import_._mesh_graph import (
    ASSIGN,
    BROADCAST,
    CALL,
    FOR,
    REDUCE_OP,
    UNASSIGN,
    Function,
    Node,
    read_module,
)
from mpmd.passes.import_._mesh_sets import (
    NOWHERE,
    SRC_SET,
    USE_SET,
    Meshes,
    clear_all,
    intersection,
    names,
    read_all,
    read_from,
    union,
    write_all,
)


@dataclass(frozen=True)
class InferMeshAssignMeshFuncLeaves(Pass):
    """Assigns meshes to what no labelled computation uses.

    These are unused computations, outputs and unused inputs of the program, unused inputs and
    outputs of callees, computations without results, and the operands of reduces and broadcasts.
    A leaf goes where it is needed anyway, else to the first mesh of its source set, else to the
    first mesh of the topology, in the order of their names.

        func.func @main(...) -> T { %0 = stablehlo.sine %arg0 {mpmd.src_set = <"m1">}  return %0 }
      ~~>
        func.func @main(...) -> mesh_tensor<"m1", T> {
          %0 = stablehlo.sine %arg0 {mpmd.src_set = <"m1">}
          %1 = mpmd.assign {origin = "inferred_out"} %0
          return %1 }

    The use sets of computations are removed: they have to be made again. A leaf that can be made
    nowhere is an error, unless `infer-transfers` is on. Requires use sets and source sets.
    """

    name: ClassVar[str] = "mpmd-infer-mesh-assign-mesh-func-leaves"
    infer_transfers: bool = option(False, "Bring operands together with transfers where needed.")
    error_limit: int = error_limit()

    def run(self, module: ir.Operation) -> None:
        graph = read_module(module)
        states = {name: _Leaves(function) for name, function in graph.items()}
        errors = Errors(self.error_limit)
        for leaves in states.values():
            leaves.read(states)
        if not self.infer_transfers:
            for leaves in states.values():
                leaves.check(errors)
            errors.raise_any()
        for leaves in states.values():
            leaves.assign(states)


@dataclass
class _Leaves:
    """The leaves of one function."""

    function: Function
    sources: dict[int, Meshes] = field(default_factory=dict)
    uses: dict[int, Meshes] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)
    used_results: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        op, body = self.function.op, self.function.body
        self.default = sorted(topology_of(op))[0]
        for name, known in ((SRC_SET, self.sources), (USE_SET, self.uses)):
            sets = read_all(op, "arg_attrs", name, len(body.arguments))
            self._learn(known, body.arguments, sets)
            for node in self.function.nodes():
                if node.carries_sets:
                    found = read_from(node.op, name)
                    self._learn(known, node.results, [found] * len(node.results))
        self.used.update(body.returned)
        for node in self.function.nodes():
            self.used.update(node.operands)
            self.used.update(node.captured)
            if node.body is not None:
                self.used.update(node.body.returned)

    @staticmethod
    def _learn(
        known: dict[int, Meshes], values: Sequence[int], sets: Sequence[Meshes | None]
    ) -> None:
        known.update({v: m for v, m in zip(values, sets, strict=True) if m is not None})

    def read(self, states: dict[str, _Leaves]) -> None:
        """Learns about the results of calls from their callees, and what is used of them."""
        for node in self.function.nodes():
            callee = states.get(callee_name(node.op)) if node.name == CALL else None
            if callee is None:
                continue
            returned = callee.function.body.returned
            count = len(returned)
            sources = [callee.sources.get(value) for value in returned]
            self._learn(self.sources, node.results, sources)
            uses = read_all(callee.function.op, "res_attrs", USE_SET, count)
            self._learn(self.uses, node.results, uses)
            callee.used_results.update(i for i in range(count) if node.results[i] in self.used)

    def check(self, errors: Errors) -> None:
        """Reports leaves that can be made nowhere."""
        for node in self.function.body.nodes:
            for value in self._leaves_of(node):
                if self.sources.get(value) == NOWHERE:
                    errors.add(node.op, _NOWHERE)
                    break
        if self.function.is_entry:
            for value in self.function.body.returned:
                if self.sources.get(value) == NOWHERE and not self._has_mesh(value):
                    errors.add(_place(self.function, value), _NOWHERE)

    def _leaves_of(self, node: Node) -> list[int]:
        if node.name in (REDUCE_OP, BROADCAST):
            return node.operands
        if not node.is_meshless or any(result in self.used for result in node.results):
            return []
        return node.results or node.operands

    def _has_mesh(self, value: int) -> bool:
        return is_mesh_tensor(self.function.values[value].type)

    def assign(self, states: dict[str, _Leaves]) -> None:
        """Assigns meshes to the leaves."""
        function = self.function
        for node in function.body.nodes:
            if node.name in (REDUCE_OP, BROADCAST):
                self._assign_operands(node)
            elif node.is_meshless and not node.results:
                self._wrap_resultless(node)
            elif node.is_meshless and not any(result in self.used for result in node.results):
                ip = after(node.op)
                for result in node.results:
                    mesh = self._mesh_for(result, self.sources.get(result))
                    assign(function.values[result], mesh, "inferred_unused", ip)
        for node in function.nodes():
            if node.is_meshless and not node.results:
                continue  # wrapped, and erased
            if node.name not in (ASSIGN, UNASSIGN):
                erase_attributes(node.op, USE_SET)
            if node.name == FOR:
                clear_all(node.op, "arg_attrs", USE_SET)
        clear_all(function.op, "arg_attrs", USE_SET)
        if function.is_entry:
            self._assign_inputs()
            self._assign_outputs()
            update_function_type(function.op)
        else:
            self._need_unused(function)

    def _mesh_for(self, value: int, sources: Meshes | None, needed: Meshes | None = None) -> str:
        """Returns where to put a leaf: where it is needed, of the places where it can be."""
        uses = self.uses.get(value, NOWHERE) if needed is None else needed
        if sources is None:
            return min(names(uses), default=self.default)
        both = intersection(uses, sources)
        return min(names(both or sources), default=self.default)

    def _assign_operands(self, node: Node) -> None:
        """Makes each operand of a reduce or broadcast a value of one mesh."""
        ip = ir.InsertionPoint(node.op)
        needed = self.uses.get(node.results[0], NOWHERE)
        for index, number in enumerate(node.operands):
            value = self.function.values[number]
            mesh = self._mesh_for(number, self.sources.get(number), needed)
            origin = node.name.removeprefix("mpmd.")
            assigned = assign(value, mesh, origin, ip)
            node.op.operands[index] = unassign(assigned, value.type, ip, node.op.location)

    def _wrap_resultless(self, node: Node) -> None:
        """Wraps a computation without results on every mesh where its operands are needed."""
        values = [*node.operands, *node.captured]
        sources: Meshes | None = None
        uses = NOWHERE
        for value in values:
            found = self.sources.get(value)
            uses = union(uses, self.uses.get(value, NOWHERE))
            if found is not None:
                sources = found if sources is None else intersection(sources, found)
        places = uses if sources is None else intersection(uses, sources) or sources[:1]
        for mesh in sorted(names(places)) or [self.default]:
            self._clone_onto(mesh, node)
        node.op.erase()

    def _clone_onto(self, mesh: str, node: Node) -> None:
        op, ip = node.op, ir.InsertionPoint(node.op)
        numbers = list(dict.fromkeys([*node.operands, *node.captured]))
        values = [self.function.values[number] for number in numbers]
        assigned = [assign(value, mesh, None, ip) for value in values]
        fragment = ir.Operation.create(
            "mpmd.fragment",
            operands=assigned,
            attributes={
                "mesh_name": ir.StringAttr.get(mesh),
                "origin": origins_attribute([]),
                "mpmd.inferred_by": strings_attribute(["infer_mesh_wrap_resultless_ops"]),
            },
            regions=1,
            ip=ip,
            loc=op.location,
        )
        locations = [op.location] * len(values)
        block = fragment.regions[0].blocks.append(*[v.type for v in values], arg_locs=locations)
        clone = op.clone(ip=ir.InsertionPoint(block))
        erase_attributes(clone, SRC_SET, USE_SET)
        replace_operands(clone, dict(zip(values, block.arguments, strict=True)))
        ir.Operation.create("mpmd.return", ip=ir.InsertionPoint(block), loc=op.location)

    def _assign_inputs(self) -> None:
        for argument in self.function.body.arguments:
            value = self.function.values[argument]
            if argument not in self.used and not self._has_mesh(argument):
                value.set_type(mesh_tensor_type(self.default, value.type))

    def _assign_outputs(self) -> None:
        block = self.function.body.block
        ip = ir.InsertionPoint.at_block_terminator(block)
        last = ip.ref_operation.operation
        for index, number in enumerate(self.function.body.returned):
            value = self.function.values[number]
            if not is_mesh_tensor(value.type):
                mesh = self._mesh_for(number, self.sources.get(number))
                last.operands[index] = assign(value, mesh, "inferred_out", ip)

    def _need_unused(self, function: Function) -> None:
        """Says where unused inputs and outputs of a callee are to be."""
        body = function.body
        needed: list[Meshes | None] = [
            None
            if argument in self.used or self._has_mesh(argument)
            else ((self._mesh_for(argument, self.sources.get(argument)), (_UNUSED_IN,)),)
            for argument in body.arguments
        ]
        write_all(function.op, "arg_attrs", USE_SET, needed)
        needed = [None] * len(body.returned)
        for index, value in enumerate(body.returned if function.callers else ()):
            known = index in self.used_results or self.uses.get(value)
            if not known and not self._has_mesh(value):
                mesh = self._mesh_for(value, self.sources.get(value))
                needed[index] = ((mesh, (_UNUSED_OUT,)),)
        write_all(function.op, "res_attrs", USE_SET, needed)


_UNUSED_IN, _UNUSED_OUT = "inferred_unused_callee_in", "inferred_unused_callee_out"
_NOWHERE = (
    "src_set must not be empty for this op. "
    "Try setting `mpmd_infer_transfers` in the partitioning options."
)


def _place(function: Function, value: int) -> ir.Operation | ir.Location:
    owner = function.values[value].owner
    return function.op if isinstance(owner, ir.Block) else owner.operation
