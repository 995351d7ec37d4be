"""The pass `mpmd-fragment-dce`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.fragment import Fragment, prune
from mpmd.passes.common._flow import TRANSFER, Flow, FlowPass, Node


@dataclass(frozen=True)
class FragmentDce(FlowPass):
    """Removes results of fragments that nothing uses, and operands and operations nobody needs.

    What a fragment takes keeps an array alive on its mesh, and what it returns must be written, so
    neither may be more than the program needs. Goes from the last operation to the first, which
    also removes whole fragments and transfers that become unused on the way.

        %0:2 = fragment<"m", ["f"]> (%a, %b)             %0 = fragment<"m", ["f"]> (%a)
          (%x, %y) {                                       (%x) {
          %1 = add %x, %x                        ~~>       %1 = add %x, %x
          %2 = add %y, %y                                  return %1
          return %1, %2 }                                }
        return %0#0                                      return %0

    Requires a function whose values all live on a mesh. Never removes an operation with an effect.
    """

    name: ClassVar[str] = "mpmd-fragment-dce"

    def run_on_flow(self, flow: Flow) -> None:
        for node in reversed(flow.nodes):
            if not (node.is_fragment or node.name == TRANSFER):
                continue
            if node.results and node.is_unused() and flow.is_pure(node):
                node.erased = True
                node.op.erase()
            elif node.is_fragment:
                _prune(flow, node)


def _prune(flow: Flow, node: Node) -> None:
    keep = [result.is_used() for result in node.results]
    pruned = prune(flow.bodies, Fragment(node.op), keep, ir.InsertionPoint(node.op))
    if pruned is None:
        return
    new, taken = pruned
    kept = [result for result, used in zip(node.results, keep, strict=True) if used]
    for result, value in zip(kept, new.op.results, strict=True):
        result.now.replace_all_uses_with(value)
    for number in set(range(len(node.inputs))) - set(taken):
        node.inputs[number].users.remove(node)
    node.op.erase()
