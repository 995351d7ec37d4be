"""The pass `mpmd-fragment-dce`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.fragment import Bodies, Fragment, is_used, prune
from mpmd.dialect.functions import entry_block, functions, is_mpmd_function
from mpmd.passes.base import Pass, run_on_all
from mpmd.passes.common._flow import FOR, TRANSFER


@dataclass(frozen=True)
class FragmentDce(Pass):
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

    def run(self, module: ir.Operation) -> None:
        bodies = Bodies(module)
        run_on_all(
            lambda func: _sweep(entry_block(func), bodies),
            filter(is_mpmd_function, functions(module)),
        )
        bodies.erase_unused()


def _sweep(block: ir.Block, bodies: Bodies) -> None:
    ops = [op.operation for op in block.operations]
    for loop in ops:
        if loop.name == FOR:
            _sweep(loop.regions[0].blocks[0], bodies)
    for op in reversed(ops):
        fragment = Fragment.of(op)
        if fragment is not None:
            _reduce(fragment, bodies)
        elif op.name == TRANSFER and not is_used(op.results[0]):
            op.erase()


def _reduce(fragment: Fragment, bodies: Bodies) -> None:
    """Erases a fragment, or what it has too much."""
    results = fragment.results
    keep = [is_used(result) for result in results]
    if results and not any(keep) and fragment.is_pure(bodies):
        fragment.op.erase()
        return
    pruned = prune(bodies, fragment, keep, ir.InsertionPoint(fragment.op))
    if pruned is None:
        return
    kept = (result for result, used in zip(results, keep, strict=True) if used)
    for result, value in zip(kept, pruned[0].op.results, strict=True):
        result.replace_all_uses_with(value)
    fragment.op.erase()
