"""mpmd-validate-no-inferred-fragments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import read_strings
from mpmd.dialect.fragment import Fragment, fragments
from mpmd.dialect.functions import entry_block
from mpmd.passes.base import FunctionPass, option
from mpmd.passes.export._failures import Fault, fail_or_warn

_INFERRED_BY = "mpmd.inferred_by"
_HARMLESS = frozenset(("introduce_transfers", "uniquify"))


@dataclass(frozen=True)
class ValidateNoInferredFragments(FunctionPass):
    """Validates that no inferred fragments are left.

    Each is a program of its own for work that no label asked for: usually a sign that a label
    covers too little. Fragments that only make the inputs and outputs of the function distinct, or
    stand where values move between meshes, are never a reason to fail.
    """

    name: ClassVar[str] = "mpmd-validate-no-inferred-fragments"

    fail_on_inferred_fragments: bool = option(
        True, "Fail when there is an inferred fragment, instead of warning."
    )

    def run_on_function(self, func: ir.Operation) -> None:
        """Checks the fragments of `func`."""
        faults: list[Fault] = []
        harmless: list[Fault] = []
        for fragment in fragments(entry_block(func)):
            if fragment.is_user:
                continue
            makers = _inferred_by(fragment)
            message = f"Inferred fragment has not been merged (inferred by {', '.join(makers)})"
            if not makers:
                message = f"Internal error: inferred fragment missing '{_INFERRED_BY}' attribute"
            (faults if _HARMLESS.isdisjoint(makers) else harmless).append((fragment.op, message))
        fail_or_warn(harmless, failing=False)
        fail_or_warn(faults, self.fail_on_inferred_fragments)


def _inferred_by(fragment: Fragment) -> tuple[str, ...]:
    attributes = fragment.op.attributes
    return read_strings(attributes[_INFERRED_BY]) if _INFERRED_BY in attributes else ()
