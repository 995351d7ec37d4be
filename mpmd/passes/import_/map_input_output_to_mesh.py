"""The pass `mpmd-map-input-output-to-mesh`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import mesh_tensor_type
from mpmd.dialect.functions import entry_block, is_entry_point, terminator, update_function_type
from mpmd.passes.base import FunctionPass, PassFailure
from mpmd.passes.import_._assignment import (
    IndexAssignment,
    Place,
    check_mesh,
    index_assignment,
)


@dataclass(frozen=True)
class MapInputOutputToMesh(FunctionPass):
    """Puts arguments and results of the entry function on the meshes that the user chose.

        func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x }
        ~~>
        func.func @main(%x: !mpmd.mesh_tensor<"m1", ...>) -> !mpmd.mesh_tensor<"m2", ...> {
          %0 = mpmd.unassign {origin = "user_in"} %x
          %1 = mpmd.assign {origin = "user_out"} %0
          return %1
        }

    Arguments and results without an assignment are left to mesh inference.
    """

    name: ClassVar[str] = "mpmd-map-input-output-to-mesh"

    input_assignment: IndexAssignment = index_assignment("Argument")
    output_assignment: IndexAssignment = index_assignment("Result")

    def applies_to(self, func: ir.Operation) -> bool:
        return is_entry_point(func)

    def run_on_function(self, func: ir.Operation) -> None:
        block = entry_block(func)
        _check(func, self.input_assignment, block.arguments, "argument")
        _check(func, self.output_assignment, terminator(block).operands, "result")
        with ir.InsertionPoint.at_block_begin(block):
            for number, place in sorted(self.input_assignment, key=lambda pair: pair[0]):
                _map_input(block.arguments[number], place)
        last = terminator(block)
        with ir.InsertionPoint(last):
            for number, place in sorted(self.output_assignment, key=lambda pair: pair[0]):
                last.operands[number] = _assigned(last, number, place)
        update_function_type(func)


def _check(
    func: ir.Operation, assignment: IndexAssignment, values: Sequence[ir.Value], what: str
) -> None:
    for number, place in assignment:
        count = len(values)
        if number >= count:
            raise PassFailure(
                func, f"{what} {number} is assigned to mesh {place}, but there are only {count}"
            )
        type_ = values[number].type
        if not isinstance(type_, ir.RankedTensorType):
            raise PassFailure(
                func,
                f"{what} {number} is assigned to mesh {place}, but is no tensor without a mesh:"
                f" {type_}",
            )
        check_mesh(func, func, place)


def _map_input(argument: ir.BlockArgument, place: Place) -> None:
    local = argument.type
    argument.set_type(mesh_tensor_type(place.mesh, local, None, place.memory_kind))
    unassign = ir.Operation.create(
        "mpmd.unassign",
        results=[local],
        operands=[argument],
        attributes={"origin": ir.StringAttr.get("user_in")},
        loc=argument.location,
    )
    argument.replace_all_uses_except(unassign.result, unassign)


def _assigned(last: ir.Operation, number: int, place: Place) -> ir.Value:
    value = last.operands[number]
    return ir.Operation.create(
        "mpmd.assign",
        results=[mesh_tensor_type(place.mesh, value.type, None, place.memory_kind)],
        operands=[value],
        attributes={"origin": ir.StringAttr.get("user_out")},
        loc=last.location,
    ).result
