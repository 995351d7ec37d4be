"""mpmd-delay-inferred-fragments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.fragment import fragments
from mpmd.dialect.functions import entry_block
from mpmd.passes.base import FunctionPass
from mpmd.passes.export._sinking import sink_to_first_user


@dataclass(frozen=True)
class DelayInferredFragments(FunctionPass):
    """Delays inferred fragments to right before their first user.

    What no label asked for should neither hold up a fragment of the user's nor keep memory alive
    for longer than it must.

        %1 = inferred fragment (%0)
        %2 = fragment f (%0)
        %3 = fragment g (%1)
        ~~>
        %2 = fragment f (%0)
        %1 = inferred fragment (%0)
        %3 = fragment g (%1)

    Inferred fragments without users, and all others, stay where they are.
    """

    name: ClassVar[str] = "mpmd-delay-inferred-fragments"

    def run_on_function(self, func: ir.Operation) -> None:
        """Delays the inferred fragments of `func`."""
        # Backwards, so that the users of what is moved stand where they will stay.
        for fragment in reversed(list(fragments(entry_block(func)))):
            if not fragment.is_user:
                sink_to_first_user(fragment.op)
