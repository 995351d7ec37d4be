"""The pass `mpmd-copy-constants`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.fragment import Bodies, Fragment, edit
from mpmd.dialect.functions import terminator
from mpmd.passes.common._flow import TRANSFER, Flow, FlowPass, Value

CONSTANT = "stablehlo.constant"


@dataclass(frozen=True)
class CopyConstants(FlowPass):
    """Makes a constant anew in every fragment that takes it from the one that returns it.

    A constant costs nothing to make, but a transfer to send and memory to keep. The operand is then
    unused, for mpmd-fragment-dce to remove.

        %1 = fragment<"m0", ["f"]> () {                  %3 = fragment<"m1", ["g"]> (%2) (%x) {
          return constant 1.0 }                 ~~>        %c = constant 1.0
        %2 = transfer %1 : (m0) -> m1                      return add %c, %c }
        %3 = fragment<"m1", ["g"]> (%2) (%x) {
          return add %x, %x }

    Follows chains of transfers. Copies what `stablehlo.constant` makes and nothing computed.
    """

    name: ClassVar[str] = "mpmd-copy-constants"

    def run_on_flow(self, flow: Flow) -> None:
        for node in reversed(flow.nodes):
            if not node.is_fragment:
                continue
            constants = {
                number: constant
                for number, value in enumerate(node.inputs)
                if (constant := _constant(flow, value)) is not None
            }
            if constants:
                node.op = _copy(flow.bodies, Fragment(node.op), constants)


def _constant(flow: Flow, value: Value) -> ir.Operation | None:
    """Returns the constant that a fragment made and transfers brought here."""
    while value.node is not None and value.node.name == TRANSFER:
        value = value.node.inputs[0]
    if value.node is None or not value.node.is_fragment:
        return None
    body = Fragment(value.node.op).body(flow.bodies)
    maker = terminator(body).operands[value.index].owner
    is_constant = not isinstance(maker, ir.Block) and maker.name == CONSTANT
    return maker if is_constant else None


def _copy(bodies: Bodies, fragment: Fragment, constants: dict[int, ir.Operation]) -> ir.Operation:
    """Makes a fragment use copies of `constants`, by operand number; returns it."""

    def change(block: ir.Block) -> None:
        for number, constant in constants.items():
            copy = constant.clone(ip=ir.InsertionPoint.at_block_begin(block))
            block.arguments[number].replace_all_uses_with(copy.results[0])

    key = ("copy constants", *((i, each.attributes["value"]) for i, each in constants.items()))
    return edit(bodies, fragment, change, key).op
