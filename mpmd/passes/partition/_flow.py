"""What flows where in a program of fragments, with equal calls taken as one.

A *variant* stands for all calls of one function that do the same work: same mesh, same stage, same
place within a microbatch; or for all transfers of what one slot holds to one mesh. Each operand
and result of a variant is a *slot*, and so is each argument of the program. Slots that a value
flows between are tied, and tied slots get one sharding: the 64th microbatch adds no slots.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import int_attribute, mesh_of
from mpmd.dialect.fragment import CALL, REGION
from mpmd.dialect.functions import entry_block

# Calls of one function on one mesh and stage in one microbatch, as when a program without
# microbatches applies a label many times, are told apart up to this number.
_POSITIONS = 8

TRANSFER = "mpmd.transfer"


@dataclass(frozen=True, eq=False)
class Variant:
    """Calls or transfers that get the same shardings, by the first of them."""

    first: ir.Operation
    inputs: range
    outputs: range


@dataclass
class Flow:
    """The slots of a program and the ties between them, in the order of the program.

    `calls` are the fragments and transfers, each with its variant and the slots it takes.
    """

    variants: list[Variant] = field(default_factory=list)
    calls: list[tuple[ir.Operation, Variant, tuple[int, ...]]] = field(default_factory=list)
    arguments: list[int] = field(default_factory=list)
    returned: list[int] = field(default_factory=list)
    values: list[ir.Value] = field(default_factory=list)
    _tied: list[int] = field(default_factory=list)

    def find(self, slot: int) -> int:
        """Returns the slot that stands for all those tied to `slot`."""
        tied = self._tied
        while tied[slot] != slot:
            tied[slot] = slot = tied[tied[slot]]
        return slot

    def tie(self, one: int, other: int) -> None:
        """Ties two slots, and all that are tied to either."""
        one, other = self.find(one), self.find(other)
        if one != other:
            self._tied[max(one, other)] = min(one, other)

    def add(self, value: ir.Value) -> int:
        """Adds a slot; `value` is the first that flows through it."""
        self.values.append(value)
        self._tied.append(len(self._tied))
        return len(self._tied) - 1


def read_flow(func: ir.Operation) -> Flow:
    """Returns the flow of a function whose values all have a mesh."""
    flow = Flow()
    block = entry_block(func)
    slots: dict[ir.Value, int] = {}
    variants: dict[Hashable, Variant] = {}
    seen: dict[Hashable, int] = {}
    tied: set[tuple[int, tuple[int, ...]]] = set()
    for argument in block.arguments:
        slots[argument] = flow.add(argument)
        flow.arguments.append(slots[argument])
    for op in block.operations:
        operation = op.operation
        name = operation.name
        if name in (CALL, REGION, TRANSFER):
            operands = tuple([slots[value] for value in operation.operands])
            key = _transfer_key(operation, operands) if name == TRANSFER else _key(operation, seen)
            variant = variants.get(key)
            if variant is None:
                variant = variants[key] = _add_variant(flow, operation)
            if (wiring := (variant.outputs.start, operands)) not in tied:
                tied.add(wiring)
                for own, operand in zip(variant.inputs, operands, strict=True):
                    flow.tie(own, operand)
            slots.update(zip(operation.results, variant.outputs, strict=True))
            flow.calls.append((operation, variant, operands))
        elif name == "func.return":
            flow.returned = [slots[value] for value in operation.operands]
        else:
            for result in operation.results:
                slots[result] = flow.add(result)
    return flow


def _key(call: ir.Operation, seen: dict[Hashable, int]) -> Hashable:
    """Returns what calls of one variant have in common."""
    if call.name == REGION:
        return call
    attributes = call.attributes
    stage = attributes["stage_id"] if "stage_id" in attributes else None
    same = (attributes["callee"], attributes["mesh_name"], stage)
    once = (*same, int_attribute(call, "call_counter"))
    position = seen[once] = seen.get(once, -1) + 1
    return (*same, min(position, _POSITIONS - 1))


def _transfer_key(transfer: ir.Operation, operands: tuple[int, ...]) -> Hashable:
    return (operands, _mesh(transfer.results[0]))


def _add_variant(flow: Flow, call: ir.Operation) -> Variant:
    inputs = [flow.add(value) for value in call.operands]
    outputs = [flow.add(value) for value in call.results]
    start = len(flow.values) - len(outputs)
    variant = Variant(call, range(start - len(inputs), start), range(start, len(flow.values)))
    flow.variants.append(variant)
    return variant


def mesh_of_slot(flow: Flow, slot: int) -> str:
    """Returns the mesh on which the values of `slot` are."""
    return _mesh(flow.values[slot])


def _mesh(value: ir.Value) -> str:
    mesh = mesh_of(value)
    assert mesh is not None, f"{value.type} is no mesh tensor"
    return mesh
