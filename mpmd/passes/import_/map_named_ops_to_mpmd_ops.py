"""The pass `mpmd-map-named-ops-to-mpmd-ops`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import i64, mesh_tensor_type
from mpmd.passes.base import FunctionPass, PassFailure, option, raise_all
from mpmd.passes.import_._assignment import (
    NameAssignment,
    Place,
    check_mesh,
    format_assignment,
    parse_names,
)
from mpmd.passes.import_._nesting import COMPUTATION, TENSOR, label_name, labels

_MICROBATCH = ("call_counter", "unroll_counter")


@dataclass(frozen=True)
class MapNamedOpsToMpmdOps(FunctionPass):
    """Turns labels into fragments on their meshes.

        %0 = mpmd.named_computation<"f"> (%x) (%a) { ... }
        ~~>
        %0 = mpmd.assign {origin = "f"} %x : (tensor<4xf32>) -> !mpmd.mesh_tensor<"m1", ...>
        %1 = mpmd.fragment<mesh="m1", origin=["f"], stage=0> (%0) (%a) { ... }
        %2 = mpmd.unassign {origin = "f"} %1 : ... -> tensor<4xf32>

    A `mpmd.named_tensor` becomes an assign and an unassign, which keep a memory kind that the
    assignment names; a fragment ignores it. The microbatch of a label (`call_counter`, or
    `unroll_counter` in an unrolled loop) stays on the fragment. A named computation without an
    assignment is an error; a named tensor without one disappears.

    Requires that no label stands in another one or in a loop.
    """

    name: ClassVar[str] = "mpmd-map-named-ops-to-mpmd-ops"

    assignment: NameAssignment = option(
        (),
        "Labels and their meshes: name@mesh or name@mesh/stage.",
        parse=parse_names,
        format=format_assignment,
    )

    def run_on_function(self, func: ir.Operation) -> None:
        places = dict(self.assignment)
        found = labels(func)
        _check(func, found, places)
        for label in found:
            place = places.get(label_name(label))
            if label.name == TENSOR:
                _map_tensor(label, place)
            elif place is not None:
                _map_computation(label, place)


def _check(func: ir.Operation, found: list[ir.Operation], places: dict[str, Place]) -> None:
    """Raises PassFailure where a label cannot become a fragment."""
    failures = []
    for label in found:
        name = label_name(label)
        around = label.parent.operation
        if around != func:
            failures.append(
                PassFailure(
                    label,
                    f"label '{name}' stands in {around.name}, where it cannot become a "
                    "fragment: a label must be at the top of an MPMD function",
                    [(around, f"{around.name} is here")],
                )
            )
        elif name in places:
            check_mesh(label, func, places[name])
        elif label.name == COMPUTATION:
            failures.append(
                PassFailure(
                    label,
                    f"Top-level NamedComputation '{name}' is not assigned to a mesh in the "
                    "user-defined named-to-mesh assignment.",
                )
            )
    raise_all(failures)


def _map_tensor(label: ir.Operation, place: Place | None) -> None:
    value = label.operands[0]
    if place is not None:
        with ir.InsertionPoint(label), label.location:
            origin = ir.StringAttr.get(label_name(label))
            type_ = mesh_tensor_type(place.mesh, value.type, None, place.memory_kind)
            value = _unassign(_assign(value, type_, origin), value.type, origin)
    label.results[0].replace_all_uses_with(value)
    label.erase()


def _map_computation(label: ir.Operation, place: Place) -> None:
    origin = ir.StringAttr.get(label_name(label))
    assigned: dict[ir.Value, ir.Value] = {}
    with ir.InsertionPoint(label), label.location:
        for operand in label.operands:
            if operand not in assigned:
                assigned[operand] = _assign(
                    operand, mesh_tensor_type(place.mesh, operand.type), origin
                )
        fragment = ir.Operation.create(
            "mpmd.fragment",
            results=[mesh_tensor_type(place.mesh, result.type) for result in label.results],
            operands=[assigned[operand] for operand in label.operands],
            attributes=_fragment_attributes(label, place),
            regions=1,
        )
        label.regions[0].blocks[0].append_to(fragment.regions[0])
        for old, new in zip(label.results, fragment.results, strict=True):
            old.replace_all_uses_with(_unassign(new, old.type, origin))
    label.erase()


def _fragment_attributes(label: ir.Operation, place: Place) -> dict[str, ir.Attribute]:
    given = label.attributes
    attributes: dict[str, ir.Attribute] = {
        "origin": ir.ArrayAttr.get([given["origin"]]),
        "mesh_name": ir.StringAttr.get(place.mesh),
    }
    if place.stage is not None:
        attributes["stage_id"] = i64(place.stage)
    for name in _MICROBATCH:
        if name in given:
            attributes["call_counter"] = given[name]
    return attributes


def _assign(value: ir.Value, type_: ir.Type, origin: ir.Attribute) -> ir.Value:
    return ir.Operation.create(
        "mpmd.assign", results=[type_], operands=[value], attributes={"origin": origin}
    ).result


def _unassign(value: ir.Value, type_: ir.Type, origin: ir.Attribute) -> ir.Value:
    return ir.Operation.create(
        "mpmd.unassign", results=[type_], operands=[value], attributes={"origin": origin}
    ).result
