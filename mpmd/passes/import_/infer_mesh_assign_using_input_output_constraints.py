"""Mesh inference: an input and an output that belong together get one mesh."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import mesh_of, mesh_tensor_type
from mpmd.dialect.functions import update_function_type
from mpmd.passes.base import Pass, PassFailure, option
from mpmd.passes.import_._constraints import (
    Constraints,
    check,
    format_constraints,
    parse_constraints,
)
from mpmd.passes.import_._edits import assign, unassign
from mpmd.passes.import_._mesh_graph import Function, read_module
from mpmd.passes.import_._mesh_sets import (
    SRC_SET,
    USE_SET,
    Meshes,
    intersection,
    names,
    read_all,
    read_from,
)


@dataclass(frozen=True)
class InferMeshAssignUsingInputOutputConstraints(Pass):
    """Assigns an input and an output that are tied to each other to the same mesh.

    The mesh is that of the one which has one; else one on which both are needed, else one on which
    the input is needed and the output can be made. Where there is none, both stay as they are.

        func.func @main(%arg0: T {mpmd.use_set = <"m1">}) -> T { ... return %0 }     (0:0)
      ~~>
        func.func @main(%arg0: mesh_tensor<"m1", T>) -> mesh_tensor<"m1", T> {
          %0 = mpmd.unassign {origin = "io_constraint_in"} %arg0
          ...
          %2 = mpmd.assign {origin = "io_constraint_out"} %1
          return %2 }

    Requires use sets and source sets, which have to be made again afterwards.
    """

    name: ClassVar[str] = "mpmd-infer-mesh-assign-using-input-output-constraints"
    constraints: Constraints = option(
        (),
        "Comma-separated INPUT:OUTPUT pairs of numbers that get the same mesh.",
        parse=parse_constraints,
        format=format_constraints,
    )

    def run(self, module: ir.Operation) -> None:
        for function in read_module(module).values() if self.constraints else ():
            if function.is_entry:
                check(function.op, self.constraints)
                for source, target in self.constraints:
                    _tie(function, source, target)
                update_function_type(function.op)


def _tie(function: Function, source: int, target: int) -> None:
    block = function.body.block
    ip = ir.InsertionPoint.at_block_terminator(block)
    last = ip.ref_operation.operation
    argument, returned = block.arguments[source], last.operands[target]
    here, there = mesh_of(argument), mesh_of(returned)
    if here and there and here != there:
        raise PassFailure(
            function.op,
            f"input {source} and output {target} are tied to each other, but assigned to the "
            f"meshes '{here}' and '{there}'",
        )
    mesh = here or there or _common_mesh(function, source, target)
    if mesh is None:
        return
    if here is None:
        _set_input(argument, mesh, block)
        returned = last.operands[target]
    if there is None:
        last.operands[target] = assign(returned, mesh, "io_constraint_out", ip)


def _set_input(argument: ir.Value, mesh: str, block: ir.Block) -> None:
    """Gives the input a mesh, and its users the unassigned value."""
    type_ = argument.type
    users = [(use.owner.operation, use.operand_number) for use in argument.uses]
    argument.set_type(mesh_tensor_type(mesh, type_))
    ip = ir.InsertionPoint.at_block_begin(block)
    value = unassign(argument, type_, ip, argument.location)
    value.owner.attributes["origin"] = ir.StringAttr.get("io_constraint_in")
    for op, number in users:
        op.operands[number] = value


def _common_mesh(function: Function, source: int, target: int) -> str | None:
    arguments = function.body.arguments
    uses = read_all(function.op, "arg_attrs", USE_SET, len(arguments))
    sources = read_all(function.op, "arg_attrs", SRC_SET, len(arguments))
    returned = function.body.returned[target]
    made: Meshes | None
    if returned in arguments:
        needed, made = uses[arguments.index(returned)], sources[arguments.index(returned)]
    else:
        owner = function.values[returned].owner.operation
        needed, made = read_from(owner, USE_SET), read_from(owner, SRC_SET)
    candidates = [made or ()] if not uses[source] else _candidates(uses[source] or (), needed, made)
    return next((min(names(meshes)) for meshes in candidates if meshes), None)


def _candidates(uses: Meshes, needed: Meshes | None, made: Meshes | None) -> list[Meshes]:
    both = intersection(uses, needed) if needed else ()
    return [both, uses if made is None else intersection(uses, made)]
