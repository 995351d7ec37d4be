"""The pass `mpmd-inline-nested-user-exposed-ops`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.functions import terminator
from mpmd.passes.base import FunctionPass, PassFailure, option, raise_all
from mpmd.passes.import_._assignment import (
    NameAssignment,
    Place,
    format_assignment,
    parse_names,
)
from mpmd.passes.import_._nesting import (
    TENSOR,
    enclosing_computation,
    label_name,
    labels,
)


@dataclass(frozen=True)
class InlineNestedUserExposedOps(FunctionPass):
    """Inlines labels that stand in another label: the outermost one decides on the mesh.

        mpmd.named_computation<"f"> (%x) (%a) {
          %1 = mpmd.named_computation<"g"> (%a) (%b) { %2 = stablehlo.add %b, %b  mpmd.return %2 }
          mpmd.return %1
        }
        ~~>
        mpmd.named_computation<"f"> (%x) (%a) { %1 = stablehlo.add %a, %a  mpmd.return %1 }

    A nested label without an assignment is inlined too. One that is assigned to another mesh or
    stage than the label around it is an error, as is an outer label without an assignment.
    """

    name: ClassVar[str] = "mpmd-inline-nested-user-exposed-ops"

    assignment: NameAssignment = option(
        (),
        "Labels and their meshes: name@mesh or name@mesh/stage.",
        parse=parse_names,
        format=format_assignment,
    )

    def run_on_function(self, func: ir.Operation) -> None:
        places = dict(self.assignment)
        nested = [
            (label, parent) for label in labels(func) if (parent := enclosing_computation(label))
        ]
        found = [_failure(label, parent, places) for label, parent in nested]
        raise_all([failure for failure in found if failure is not None])
        # Innermost first, so that what is inlined holds no label any more.
        for label, _ in reversed(nested):
            _inline(label)


def _failure(
    label: ir.Operation, parent: ir.Operation, places: dict[str, Place]
) -> PassFailure | None:
    """Returns why `label` may not stand in `parent`, or None where it may."""
    name, parent_name = label_name(label), label_name(parent)
    if parent_name not in places:
        return PassFailure(
            parent,
            f"Parent NamedComputation '{parent_name}' is not assigned to a mesh in the "
            "user-defined name-to-mesh assignment.",
        )
    if name not in places:
        return None
    place, around = places[name], places[parent_name]
    if label.name == TENSOR and place.mesh != around.mesh:
        return PassFailure(
            label,
            f"NamedTensor '{name}' is nested in a NamedComputation '{parent_name}' which has a "
            "different mesh assignment.",
        )
    if label.name != TENSOR and (place.mesh, place.stage) != (around.mesh, around.stage):
        return PassFailure(
            label,
            f"NamedComputation '{name}' is nested in a NamedComputation '{parent_name}' which has "
            "a different mesh or stage assignment.",
        )
    return None


def _inline(label: ir.Operation) -> None:
    """Puts the operations of `label` in its place."""
    if label.name == TENSOR:
        label.results[0].replace_all_uses_with(label.operands[0])
        label.erase()
        return
    block = label.regions[0].blocks[0]
    for argument, operand in zip(block.arguments, label.operands, strict=True):
        argument.replace_all_uses_with(operand)
    last = terminator(block)
    for result, value in zip(label.results, last.operands, strict=True):
        result.replace_all_uses_with(value)
    last.erase()
    for op in list(block.operations):
        op.operation.move_before(label)
    label.erase()
