"""The pass `mpmd-uniquify-function-inputs-outputs`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import mesh_of, strings_attribute
from mpmd.dialect.fragment import ARGUMENT, CALL, Bodies, Fragment, compose
from mpmd.dialect.functions import entry_block, functions, is_mpmd_function, terminator, topology_of
from mpmd.passes.base import Pass, PassFailure, option
from mpmd.passes.common._flow import TRANSFER
from mpmd.passes.common._merging import INFERRED_BY
from mpmd.passes.common._outlining import Outliner


@dataclass(frozen=True)
class UniquifyFunctionInputsOutputs(Pass):
    """Makes every returned value a distinct one that is not an argument.

    Each result of a program is then a buffer of its own, which can have its own sharding and whose
    donation concerns nothing else. The values go through one fragment per mesh:

        return %a, %1, %1                       %2:3 = fragment<"m", []> (%a, %1) (%x, %y) {
                                       ~~>        return %x, %y, %y }
                                                return %2#0, %2#1, %2#2

    or, with the option, each of them through a transfer within its mesh. Requires a function whose
    values all live on a mesh. Never touches a value that is returned once and computed here.
    """

    name: ClassVar[str] = "mpmd-uniquify-function-inputs-outputs"
    use_transfer_instead_of_fragment: bool = option(
        False, "Make copies by transfers within the mesh instead of by fragments."
    )

    def run(self, module: ir.Operation) -> None:
        bodies = Bodies(module)
        for func in functions(module):
            if not is_mpmd_function(func):
                continue
            if self.use_transfer_instead_of_fragment:
                _copy_by_transfers(func)
            else:
                _copy_by_fragments(func, bodies)


def _copy_by_transfers(func: ir.Operation) -> None:
    last = terminator(entry_block(func))
    seen = set(entry_block(func).arguments)
    for number, value in enumerate(list(last.operands)):
        if value in seen:
            _mesh_of(value, number, last)
            copy = ir.Operation.create(
                TRANSFER, results=[value.type], operands=[value], ip=ir.InsertionPoint(last)
            )
            last.operands[number] = copy.results[0]
        seen.add(value)


def _copy_by_fragments(func: ir.Operation, bodies: Bodies) -> None:
    last = terminator(entry_block(func))
    returned = list(last.operands)
    arguments = set(entry_block(func).arguments)
    times = Counter(returned)
    places: dict[str, dict[ir.Value, list[int]]] = {}
    for number, value in enumerate(returned):
        on_mesh = places.setdefault(_mesh_of(value, number, last), {})
        if value in arguments or times[value] > 1:
            on_mesh.setdefault(value, []).append(number)
    places = {mesh: each for mesh, each in places.items() if each}
    copies = {mesh: _copy(bodies, mesh, each, last) for mesh, each in places.items()}
    for mesh, each in places.items():
        results = iter(copies[mesh].op.results)
        for numbers in each.values():
            for number in numbers:
                last.operands[number] = next(results)
    if any(op.operation.name == CALL for op in entry_block(func).operations):
        outliner = Outliner(bodies)
        for mesh, copy in copies.items():
            outliner.outline(copy, topology_of(func)[mesh])


def _mesh_of(value: ir.Value, number: int, last: ir.Operation) -> str:
    mesh = mesh_of(value)
    if mesh is None:
        raise PassFailure(last, f"result {number} has no mesh to be copied on: {value.type}")
    return mesh


def _copy(
    bodies: Bodies, mesh: str, values: dict[ir.Value, list[int]], last: ir.Operation
) -> Fragment:
    """Creates a fragment that returns each value as often as it has places."""
    outputs: Sequence[tuple[int, int]] = [
        (ARGUMENT, index) for index, numbers in enumerate(values.values()) for _ in numbers
    ]
    return compose(
        bodies,
        [],
        list(values),
        [],
        outputs,
        mesh=mesh,
        origins=(),
        attributes={INFERRED_BY: strings_attribute(["uniquify"])},
        ip=ir.InsertionPoint(last),
        loc=last.location,
    )
