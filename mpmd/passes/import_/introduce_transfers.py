"""The pass `mpmd-introduce-transfers`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import read_mesh_tensor
from mpmd.dialect.fragment import erase_dead
from mpmd.dialect.functions import (
    callee_name,
    calls_by_callee,
    entry_block,
    functions,
    is_mpmd_function,
    symbol_name,
    terminator,
)
from mpmd.passes.base import Pass
from mpmd.passes.import_._add_trees import ASSIGN, UNASSIGN, push_into_add

CALL, TRANSFER = "mpmd.call", "mpmd.transfer"


@dataclass(frozen=True)
class IntroduceTransfers(Pass):
    """Turns a value that leaves one mesh and enters another into a transfer.

        %1 = mpmd.unassign %0 : (!m1) -> tensor<4xf32>
        %2 = mpmd.assign %1 : (tensor<4xf32>) -> !m2
        ~~>
        %2 = mpmd.transfer %0 : (!m1) -> !m2

    A value that enters several meshes travels from one to the next, in the order of their names: a
    skip connection moves along the pipeline instead of occupying its source. The same transfer is
    made once. Where all calls of a function pass a value of the same mesh, be it the result of
    another call, the argument counts as a value of that mesh. An addition between meshes, used by
    one mesh, happens on that mesh:

        mpmd.assign(stablehlo.add(mpmd.unassign %a, mpmd.unassign %b)) -> !m3
        ~~>
        mpmd.fragment<mesh="m3", origin=[]> (mpmd.transfer %a, mpmd.transfer %b) { stablehlo.add }

    Unused pure operations go.
    """

    name: ClassVar[str] = "mpmd-introduce-transfers"

    def run(self, module: ir.Operation) -> None:
        by_name = {symbol_name(func): func for func in functions(module)}
        sources = _Sources(by_name)
        for callee, calls in calls_by_callee(module).items():
            if is_mpmd_function(by_name[callee]):
                _push_unassigns(entry_block(by_name[callee]), calls, sources)
        for func in by_name.values():
            if is_mpmd_function(func):
                _run_on_block(entry_block(func))
            erase_dead(entry_block(func))


class _Sources:
    """Knows which values without a mesh were on one before, also across calls."""

    def __init__(self, by_name: Mapping[str, ir.Operation]) -> None:
        self._by_name = by_name
        self._returned: dict[str, list[ir.Type | None]] = {}

    def type_on_mesh(self, value: ir.Value) -> ir.Type | None:
        """Returns the mesh tensor type of which `value` is the unassigned form."""
        if not isinstance(value, ir.OpResult):
            return None
        owner = value.owner.operation
        name = owner.name
        if name == UNASSIGN:
            return owner.operands[0].type
        return self._returned_by(owner)[value.result_number] if name == CALL else None

    def common_type(self, values: Iterable[ir.Value]) -> ir.Type | None:
        """Returns the type that all `values` had on a mesh; None where they differ or had none."""
        common = None
        for value in values:
            type_ = self.type_on_mesh(value)
            if type_ is None or (common is not None and type_ != common):
                return None
            common = type_
        return common

    def _returned_by(self, call: ir.Operation) -> list[ir.Type | None]:
        name = callee_name(call)
        found = self._returned.get(name)
        if found is None:
            returned = terminator(entry_block(self._by_name[name])).operands
            self._returned[name] = [None] * len(returned)  # for what a callee returns of itself
            found = self._returned[name] = [self.type_on_mesh(value) for value in returned]
        return found


def _push_unassigns(block: ir.Block, calls: Sequence[ir.Operation], sources: _Sources) -> None:
    """Starts a callee with an assign and unassign of every argument that comes from one mesh.

    Where no fragment takes the argument there is nothing that a transfer could be made of.
    """
    operands = [list(call.operands) for call in calls]
    for number, argument in enumerate(block.arguments):
        type_ = sources.common_type(each[number] for each in operands)
        if type_ is None:
            continue
        if not any(use.owner.operation.name == ASSIGN for use in argument.uses):
            continue
        with ir.InsertionPoint.at_block_begin(block), ir.Location.unknown():
            assign = ir.Operation.create(ASSIGN, results=[type_], operands=[argument])
            # After the assign, as both are put at the start of the block one by one.
            ip = ir.InsertionPoint.after(assign)
            unassign = ir.Operation.create(
                UNASSIGN, results=[argument.type], operands=[assign.result], ip=ip
            )
        argument.replace_all_uses_except(unassign.result, assign)


def _run_on_block(block: ir.Block) -> None:
    for op in [op.operation for op in block.operations]:
        if op.name == ASSIGN:
            push_into_add(op)
    operations = [op.operation for op in block.operations]
    transfers: dict[tuple[ir.Value, ir.Type], ir.Operation] = {}
    for op in operations:
        if op.name == TRANSFER:
            transfers.setdefault((op.operands[0], op.results[0].type), op)
    for op in operations:
        if op.name == UNASSIGN:
            _connect(op, transfers)


def _connect(
    unassign: ir.Operation, transfers: dict[tuple[ir.Value, ir.Type], ir.Operation]
) -> None:
    """Replaces the assigns of what `unassign` makes, by the value itself or by transfers of it."""
    value = unassign.operands[0]
    wanted: dict[ir.Type, list[ir.Operation]] = {}
    for use in list(unassign.results[0].uses):
        assign = use.owner.operation
        if assign.name != ASSIGN:
            continue
        type_ = assign.results[0].type
        known = transfers.get((value, type_))
        if type_ == value.type:
            _replace(assign, value)
        elif known is not None and known.is_before_in_block(assign):
            _replace(assign, known.results[0])
        else:
            wanted.setdefault(type_, []).append(assign)
    if wanted:
        _chain(value, wanted)


def _chain(value: ir.Value, wanted: dict[ir.Type, list[ir.Operation]]) -> None:
    """Moves `value` from mesh to mesh, starting where the first of the assigns stands."""
    earliest = next(iter(wanted.values()))[0]
    for assigns in wanted.values():
        for assign in assigns:
            if assign.is_before_in_block(earliest):
                earliest = assign
    ip = ir.InsertionPoint(earliest)
    made = []
    for type_ in sorted(wanted, key=_mesh_order):
        transfer = ir.Operation.create(
            TRANSFER, results=[type_], operands=[value], ip=ip, loc=wanted[type_][-1].location
        )
        value = transfer.result
        made.append((type_, value))
    for type_, moved in made:
        for assign in wanted[type_]:
            _replace(assign, moved)


def _replace(assign: ir.Operation, value: ir.Value) -> None:
    assign.results[0].replace_all_uses_with(value)
    assign.erase()


def _mesh_order(type_: ir.Type) -> list[tuple[str, int]]:
    """Orders mesh names as people do: m2 before m10."""
    pieces = re.findall(r"(\D*)(\d*)", _mesh_name(type_))
    return [(text, int(digits or 0)) for text, digits in pieces]


def _mesh_name(type_: ir.Type) -> str:
    parts = read_mesh_tensor(type_)
    assert parts is not None, f"{type_} has no mesh"
    return parts.mesh
