"""Mesh inference, the last step: nothing is left that has no mesh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import is_mesh_tensor, mesh_of, mesh_tensor_type, read_mesh_tensor
from mpmd.dialect.functions import (
    entry_block,
    functions,
    is_mpmd_function,
    topology_of,
    update_function_type,
)
from mpmd.dialect.purity import is_pure
from mpmd.passes.base import Pass, PassFailure, option
from mpmd.passes.import_._edits import erase_attributes, producer, transfer
from mpmd.passes.import_._error_limit import Errors
from mpmd.passes.import_._mesh_graph import ASSIGN, BROADCAST, REDUCE_OP, TRANSFER, UNASSIGN
from mpmd.passes.import_._mesh_sets import SRC_SET, USE_SET, clear_all
from mpmd.passes.import_._reduce_lowering import lower_reduce


@dataclass(frozen=True)
class InferMeshFinalize(Pass):
    """Folds assigns of unassigned values into types and transfers, and lowers reduces.

        %0 = mpmd.unassign %x : (mesh_tensor<"m1", T>) -> T
        %1 = mpmd.assign %0 : (T) -> mesh_tensor<"m2", T>
      ~~>
        %1 = mpmd.transfer %x : (mesh_tensor<"m1", T>) -> mesh_tensor<"m2", T>

    Inputs of the program get the first mesh that they are assigned to. A value that goes to
    several meshes goes from one to the next, in the order of their names; transfers that are there
    are used. An `mpmd.reduce` combines what is on one mesh before it is transferred. The use sets
    and source sets are removed. Unless `infer-transfers` is on, only inputs, broadcasts and
    reduces bring transfers about, and anything else that would need one is an error.
    """

    name: ClassVar[str] = "mpmd-infer-mesh-finalize"
    infer_transfers: bool = option(False, "Make transfers where assigned meshes differ.")

    def run(self, module: ir.Operation) -> None:
        for func in functions(module):
            if is_mpmd_function(func):
                _Finalizer(func, self.infer_transfers).run()
                clear_all(func, "arg_attrs", USE_SET, SRC_SET)
                clear_all(func, "res_attrs", USE_SET, SRC_SET)


def _erase_dead(block: ir.Block) -> None:
    """Erases operations that are unused and have no effect, calls excepted."""
    for view in reversed(list(block.operations)[:-1]):
        op = view.operation
        if not _is_used(op) and op.name != "mpmd.call" and is_pure(op):
            op.erase()


def _is_used(op: ir.Operation) -> bool:
    return any(next(iter(result.uses), None) is not None for result in op.results)


Homes = dict[ir.Type, ir.Value]
"""Where a value is, by type: the same data on several meshes."""


class _Finalizer:
    """Finalizes one function, from its first operation to its last."""

    def __init__(self, func: ir.Operation, infer_transfers: bool) -> None:
        self.func = func
        self.infer_transfers = infer_transfers
        self.default = min(topology_of(func))
        self.homes: dict[ir.Value, Homes] = {}
        """By any value that has the data: a mesh tensor, or one that was unassigned."""
        self.taken_from: dict[ir.Value, ir.Value] = {}
        """The mesh tensor that an unassigned value was."""
        self.transferred = {
            view.operation.operands[0]
            for view in entry_block(func).operations
            if view.operation.name == TRANSFER
        }
        """What the program transfers itself."""
        self.made: set[ir.Value] = set()
        """The transfers that this pass made."""
        self.errors = Errors(-1)

    def run(self) -> None:
        """Finalizes the function."""
        block = entry_block(self.func)
        # An input that nothing uses but assigns without a use is still on the mesh that they name.
        assigned = [self._sorted_targets(argument) for argument in block.arguments]
        _erase_dead(block)
        self._set_inputs(block, assigned)
        folded: list[ir.Operation] = []
        for view in list(block.operations):
            op = view.operation
            erase_attributes(op, USE_SET, SRC_SET)
            if self._fold(op):
                folded.append(op)
        self.errors.raise_any()
        for op in reversed(folded):
            self._erase(op)
        update_function_type(self.func)

    def _erase(self, op: ir.Operation) -> None:
        if _is_used(op):
            raise PassFailure(op, _LEFT)
        op.erase()

    def _set_inputs(self, block: ir.Block, assigned: Sequence[Sequence[ir.Type]]) -> None:
        """Gives the inputs a mesh that something assigns them to."""
        for argument, before in zip(block.arguments, assigned, strict=True):
            type_ = argument.type
            if is_mesh_tensor(type_):
                continue
            types = self._sorted_targets(argument) or before
            argument.set_type(types[0] if types else mesh_tensor_type(self.default, type_))
            self.homes[argument] = {argument.type: argument}

    def _targets(self, value: ir.Value) -> list[ir.Type]:
        """Returns the types that an unassigned value is assigned to, the last use first."""
        found: dict[ir.Type, None] = {}
        pending = [value]
        for each in pending:
            for use in each.uses:
                op = use.owner.operation
                if op.name == ASSIGN:
                    found[op.results[0].type] = None
                elif op.name == BROADCAST:
                    pending.append(op.results[0])
        return list(found)

    def _sorted_targets(self, value: ir.Value) -> list[ir.Type]:
        return sorted(self._targets(value), key=str)

    def _fold(self, op: ir.Operation) -> bool:
        """Replaces the results of `op`, if that is possible; tells whether it is superfluous."""
        name = op.name
        if name in (UNASSIGN, BROADCAST):
            source, result = op.operands[0], op.results[0]
            self.homes[result] = self._homes_of(source)
            if source in self.taken_from:
                self.taken_from[result] = self.taken_from[source]
            elif is_mesh_tensor(source.type):
                self.taken_from[result] = source
        elif name == REDUCE_OP:
            self._lower_reduce(op)
        elif name == ASSIGN:
            return self._fold_assign(op)
        elif name == TRANSFER:
            return self._reuse_transfer(op)
        else:
            return False
        return True

    def _homes_of(self, value: ir.Value) -> Homes:
        found = self.homes.get(value)
        if found is None:
            found = self.homes[value] = {value.type: value} if is_mesh_tensor(value.type) else {}
        return found

    def _place(self, value: ir.Value) -> ir.Value:
        """Returns the mesh tensor that an unassigned value was, or a first one of it."""
        return self.taken_from.get(value) or next(iter(self.homes[value].values()))

    def _fold_assign(self, op: ir.Operation) -> bool:
        source, result = op.operands[0], op.results[0]
        type_ = result.type
        homes = self._homes_of(source)
        if type_ not in homes:
            if not homes or not self._may_transfer(source):
                for each in (producer(source), op):
                    if each is not None and not self.errors.has(each):
                        self.errors.add(each, _LEFT)
                return False
            self._bring(homes, source, type_, ir.InsertionPoint(op), op.location)
        elif _is_broadcast(source):
            # Where the first of its users is, so that the others find it there.
            self._bring(homes, source, type_, ir.InsertionPoint(op), op.location)
        result.replace_all_uses_with(homes[type_])
        return True

    def _may_transfer(self, source: ir.Value) -> bool:
        """Tells whether a transfer of an unassigned value was asked for."""
        op = producer(source)
        if self.infer_transfers or op is None or _is_broadcast(source):
            return True
        return producer(self._place(source)) is None

    def _bring(
        self,
        homes: Homes,
        source: ir.Value,
        type_: ir.Type,
        ip: ir.InsertionPoint,
        loc: ir.Location,
    ) -> None:
        """Transfers a value to `type_`, on the way to all places that it is assigned to.

        Passing it on from mesh to mesh spares the first one from sending it many times. Where the
        program transfers it itself, from the first mesh, that is what is done.
        """
        latest = self._place(source)
        for target in [type_] if latest in self.transferred else self._sorted_targets(source):
            if target not in homes:
                latest = homes[target] = transfer(latest, target, ip, loc)
                self.homes[latest] = homes
                self.made.add(latest)

    def _reuse_transfer(self, op: ir.Operation) -> bool:
        """Replaces a transfer of the program that had to be made earlier."""
        result = op.results[0]
        homes = self._homes_of(op.operands[0])
        known = homes.setdefault(result.type, result)
        self.homes[result] = homes
        if known not in self.made:
            return False
        result.replace_all_uses_with(known)
        return True

    def _lower_reduce(self, op: ir.Operation) -> None:
        """Makes the reduction of its operands where it is needed."""
        values = []
        for operand in op.operands:
            homes = self._homes_of(operand)
            if not homes:
                raise PassFailure(op, _LEFT)
            values.append(self._place(operand))
        targets = map(read_mesh_tensor, self._targets(op.results[0]))
        meshes = dict.fromkeys(target.mesh for target in targets if target is not None)
        meshes = meshes or {min(mesh_of(value) or "" for value in values): None}
        self.homes[op.results[0]] = lower_reduce(op, values, list(meshes), self._transfer_once)

    def _transfer_once(
        self, value: ir.Value, type_: ir.Type, ip: ir.InsertionPoint, loc: ir.Location
    ) -> ir.Value:
        homes = self._homes_of(value)
        if type_ not in homes:
            homes[type_] = transfer(value, type_, ip, loc)
            self.homes[homes[type_]] = homes
            self.made.add(homes[type_])
        return homes[type_]


def _is_broadcast(value: ir.Value) -> bool:
    op = producer(value)
    return op is not None and op.name == BROADCAST


_LEFT = "assigns, unassigns or broadcasts are not allowed after mesh inference."
