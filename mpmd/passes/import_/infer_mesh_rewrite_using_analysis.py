"""Mesh inference, step 6: computations become fragments on the meshes that need them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import (
    mesh_of,
    mesh_tensor_type,
    origins_attribute,
    strings_attribute,
)
from mpmd.dialect.functions import callee_name, topology_of, update_function_type
from mpmd.passes.base import Pass, PassFailure, option
from mpmd.passes.import_._edits import (
    assign,
    erase_attributes,
    replace_operands,
    unassign,
)
from mpmd.passes.import_._mesh_graph import CALL, FOR, Function, Node, read_module
from mpmd.passes.import_._mesh_sets import (
    SRC_SET,
    USE_SET,
    names,
    read_from,
)
from mpmd.passes.import_._signatures import (
    Signature,
    copies_last,
    copy_numbers,
    note_copies,
    signature_of,
)
from mpmd.passes.import_._wraps import Plan, Use, Wrap, inputs


@dataclass(frozen=True)
class InferMeshRewriteUsingAnalysis(Pass):
    """Wraps computations without a mesh into inferred fragments, on every mesh of their use set.

        %1 = stablehlo.sine %0 {mpmd.use_set = <"m1">}
        %2 = mpmd.assign %1 : (T) -> mesh_tensor<"m1", T>
      ~~>
        %1 = mpmd.assign %0
        %2 = mpmd.fragment<mesh="m1", origin=[]> (%1) (%arg0: T) {
          %5 = stablehlo.sine %arg0
          mpmd.return %5 } : (mesh_tensor<"m1", T>) -> mesh_tensor<"m1", T>
        %3 = mpmd.unassign %2
        %4 = mpmd.assign %3

    A computation that only other such computations use becomes part of their fragments, and one
    that is assigned to nothing but fragments, part of these. A callee
    takes and returns one value for every mesh of the use set of an argument or result; the further
    ones come last, and `mpmd.copies` says which they are. Requires use sets, and that
    `mpmd-infer-mesh-assign-mesh-func-leaves` has run.
    """

    name: ClassVar[str] = "mpmd-infer-mesh-rewrite-using-analysis"
    max_clones: int = option(
        1, "How many fragments may repeat a computation of several operands that they share."
    )

    def run(self, module: ir.Operation) -> None:
        graph = read_module(module)
        signatures = {name: signature_of(function) for name, function in graph.items()}
        for function in graph.values():
            _Rewriter(function, signatures, self.max_clones).run()


class _Rewriter:
    """Rewrites one function, from the first operation to the last; tells its plan its needs."""

    def __init__(
        self, function: Function, signatures: dict[str, Signature], max_clones: int
    ) -> None:
        self.function = function
        self.signatures = signatures
        self.max_clones = max_clones
        self.default = min(topology_of(function.op))
        self.types = [value.type for value in function.values]
        self.plan = Plan(function.body, self)
        self.places: dict[int, dict[str, ir.Value]] = {}
        """Value -> mesh -> where it is now, for those that were made anew."""
        self.from_calls: dict[tuple[int, Wrap | Use], ir.Value] = {}
        """The same for the results of calls, by who takes it."""
        self.moved: set[Node] = set()
        self.replaced: set[Node] = set()

    def meshes(self, node: Node) -> list[str]:
        return sorted(names(read_from(node.op, USE_SET) or ())) or [self.default]

    def assigned_mesh(self, node: Node) -> str:
        results = node.op.results
        return (mesh_of(results[0]) or "") if len(results) else ""

    def call_meshes(self, node: Node) -> list[list[str]]:
        signature = self.signatures.get(callee_name(node.op))
        return signature.arguments if signature else []

    def result_meshes(self, index: int) -> list[str]:
        return self.signatures[self.function.name].results[index]

    def run(self) -> None:
        """Rewrites the function."""
        for node in self.plan.dead:
            node.op.erase()
        self._split_arguments()
        for node in self.function.body.nodes:
            if node in self.plan.copies:
                for wrap in self.plan.wraps.get(node, ()):
                    self._create(wrap, node)
            elif node.name == FOR:
                raise PassFailure(node.op, "loops must be unrolled before meshes are inferred")
            elif node.name == CALL and callee_name(node.op) in self.signatures:
                self._rewrite_call(node, self.signatures[callee_name(node.op)])
            elif node not in self.plan.dead and not self._is_sunk(node):
                self._rewrite_operands(node)
                added = self.plan.grown.get(node)
                if added is not None and added.members:
                    self._grow(added, node)
        self._split_results()
        for node in reversed(self.function.body.nodes):
            gone = node in self.replaced or self._is_sunk(node)
            if gone or (node in self.plan.copies and node not in self.moved):
                node.op.erase()
        update_function_type(self.function.op)

    def _is_sunk(self, node: Node) -> bool:
        return bool(node.results) and node.results[0] in self.plan.sunk

    def _take(self, value: int, mesh: str, user: Wrap | Use) -> ir.Value:
        """Returns `value` for a user that needs it on `mesh`."""
        found = self.from_calls.get((value, user))
        if found is not None:
            return found
        places = self.places.get(value)
        if places is None:
            return self.function.values[value]
        return places[mesh] if mesh in places else next(iter(places.values()))

    def _rewrite_operands(self, node: Node) -> None:
        for index, value in enumerate(node.operands):
            if value in self.places or (value, Use(node, index)) in self.from_calls:
                taken = self._take(value, self.assigned_mesh(node), Use(node, index))
                node.op.operands[index] = taken

    def _create(self, wrap: Wrap, last: Node) -> None:
        """Creates the fragment of `wrap`, which returns the results of its `last` computation."""
        ip, loc = ir.InsertionPoint(last.op), last.op.location
        types = [self.types[value] for value in last.results]
        fragment = ir.Operation.create(
            "mpmd.fragment",
            results=[mesh_tensor_type(wrap.mesh, type_) for type_ in types],
            operands=self._slots(wrap, last.op),
            attributes={
                "mesh_name": ir.StringAttr.get(wrap.mesh),
                "origin": origins_attribute([]),
                "mpmd.inferred_by": strings_attribute(["infer_mesh_wrap_meshless_ops"]),
            },
            regions=1,
            ip=ip,
            loc=loc,
        )
        for number, type_, result in zip(last.results, types, fragment.results, strict=True):
            made = unassign(result, type_, ip, loc)
            self.places.setdefault(number, {})[wrap.mesh] = made
        types = [self.types[value] for value, _ in wrap.slots]
        block = fragment.regions[0].blocks.append(*types, arg_locs=[loc] * len(types))
        ip = ir.InsertionPoint(block)
        inside = self._fill(wrap, list(block.arguments), ip)
        returned = [inside[value] for value in last.results]
        ir.Operation.create("mpmd.return", operands=returned, ip=ip, loc=loc)

    def _slots(self, wrap: Wrap, before: ir.Operation) -> list[ir.Value]:
        """Returns the operands of a fragment for what the computations of `wrap` take."""
        ip, loc = ir.InsertionPoint(before), before.location
        return [
            assign(self._take(value, wrap.mesh, wrap), wrap.mesh, None, ip, loc)
            for value, _ in wrap.slots
        ]

    def _grow(self, wrap: Wrap, node: Node) -> None:
        """Replaces a fragment by one that computes inside what is assigned to nothing else."""
        old, loc = node.op, node.op.location
        block = old.regions[0].blocks[0]
        arguments = [block.add_argument(self.types[value], loc) for value, _ in wrap.slots]
        inside = self._fill(wrap, arguments, ir.InsertionPoint.at_block_begin(block))
        kept = []
        for number, value in reversed(list(enumerate(node.operands))):
            sunk = self.plan.sunk.get(value)
            if sunk is None:
                kept.append(old.operands[number])
            else:
                block.arguments[number].replace_all_uses_with(inside[sunk.operands[0]])
                block.erase_argument(number)
        new = ir.Operation.create(
            old.name,
            results=[result.type for result in old.results],
            operands=[*reversed(kept), *self._slots(wrap, old)],
            attributes=dict(old.attributes.items()),
            regions=1,
            ip=ir.InsertionPoint(old),
            loc=loc,
        )
        block.append_to(new.regions[0])
        for result, value in zip(old.results, new.results, strict=True):
            result.replace_all_uses_with(value)
        for number, result in zip(node.results, new.results, strict=True):
            self.function.values[number] = result
        self.replaced.add(node)

    def _fill(
        self, wrap: Wrap, arguments: Sequence[ir.Value], ip: ir.InsertionPoint
    ) -> dict[int, ir.Value]:
        """Puts the computations of `wrap` there; returns their results by number."""
        outer = self.function.values
        taken: dict[Node, list[tuple[int, ir.Value]]] = {}
        for (value, taker), argument in zip(wrap.slots, arguments, strict=True):
            taken.setdefault(taker, []).append((value, argument))
        inside: dict[int, ir.Value] = {}
        for node in reversed(wrap.members):
            if self.plan.copies[node] == 1:
                _move(node.op, ip)
                self.moved.add(node)
                op = node.op
            else:
                op = node.op.clone(ip=ip)
            local = {outer[v]: inside[v] for v in inputs(node) if v in inside}
            local.update({outer[value]: argument for value, argument in taken.get(node, ())})
            replace_operands(op, local)
            erase_attributes(op, USE_SET, SRC_SET)
            inside.update(zip(node.results, op.results, strict=True))
        return inside

    def _rewrite_call(self, node: Node, signature: Signature) -> None:
        old, ip, loc = node.op, ir.InsertionPoint(node.op), node.op.location
        assigned = [
            [
                assign(self._take(value, mesh, Use(node, index, mesh)), mesh, None, ip, loc)
                for mesh in meshes
            ]
            or [old.operands[index]]
            for index, (value, meshes) in enumerate(
                zip(node.operands, signature.arguments, strict=True)
            )
        ]
        before = [self.types[result] for result in node.results]
        types = [
            [mesh_tensor_type(mesh, type_) for mesh in meshes] or [type_]
            for meshes, type_ in zip(signature.results, before, strict=True)
        ]
        call = ir.Operation.create(
            CALL,
            results=copies_last(types),
            operands=copies_last(assigned),
            attributes=dict(old.attributes.items()),
            ip=ip,
            loc=loc,
        )
        copies = copy_numbers(signature.results)
        results = list(call.results)
        for index, meshes in enumerate(signature.results):
            if not meshes:
                old.results[index].replace_all_uses_with(results[index])
                self.places[node.results[index]] = {"": results[index]}
                continue
            where = dict(zip(meshes, [index, *copies[index]], strict=True))
            for user in self.plan.users_of(node.results[index]):
                number = where.get(self.plan.mesh_of(user), index)
                made = unassign(results[number], before[index], ip, loc)
                self.from_calls[node.results[index], user] = made
        self.replaced.add(node)

    def _split_arguments(self) -> None:
        """Makes an argument of a callee one a mesh."""
        body, block = self.function.body, self.function.body.block
        meshes = self.signatures[self.function.name].arguments
        ip = ir.InsertionPoint.at_block_begin(block)
        loc = ir.Location.unknown()
        copies = copy_numbers(meshes)
        types = [self.types[argument] for argument in body.arguments]
        for type_, each in zip(types, meshes, strict=True):
            for mesh in each[1:]:
                block.add_argument(mesh_tensor_type(mesh, type_), loc)
        for index, each in enumerate(meshes):
            if each:
                numbers = [index, *copies[index]]
                block.arguments[index].set_type(mesh_tensor_type(each[0], types[index]))
                self.places[body.arguments[index]] = {
                    mesh: unassign(block.arguments[number], types[index], ip, loc)
                    for mesh, number in zip(each, numbers, strict=True)
                }
        note_copies(self.function.op, "arg_attrs", copies)

    def _split_results(self) -> None:
        """Makes a result of a callee one a mesh."""
        meshes = self.signatures[self.function.name].results
        ip = ir.InsertionPoint.at_block_terminator(self.function.body.block)
        last = ip.ref_operation.operation
        returned = []
        for index, value in enumerate(self.function.body.returned):
            uses = [Use(None, index, mesh) for mesh in meshes[index] or ("",)]
            taken = [self._take(value, use.mesh, use) for use in uses]
            if meshes[index]:
                taken = [
                    assign(each, use.mesh, None, ip, last.location)
                    for each, use in zip(taken, uses, strict=True)
                ]
            returned.append(taken)
        ir.Operation.create(last.name, operands=copies_last(returned), ip=ip, loc=last.location)
        last.erase()
        note_copies(self.function.op, "res_attrs", copy_numbers(meshes))


def _move(op: ir.Operation, ip: ir.InsertionPoint) -> None:
    if ip.ref_operation is None:
        ip.block.append(op)
    else:
        op.move_before(ip.ref_operation)
