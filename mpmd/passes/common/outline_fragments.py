"""The pass `mpmd-outline-fragments`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.fragment import Bodies, fragments
from mpmd.dialect.functions import entry_block, functions, is_mpmd_function, topology_of
from mpmd.passes.base import Pass
from mpmd.passes.common._outlining import Outliner


@dataclass(frozen=True)
class OutlineFragments(Pass):
    """Moves the bodies of fragments into private functions, one for all fragments of equal bodies.

    From here on a microbatch costs a few calls and transfers instead of a copy of the model, and
    what rewrites a body does so once. Run before mpmd-call-inline, it leaves every microbatch with
    calls of the same functions.

        %1 = fragment<"m", ["f"]> (%0) {...}             %1 = fragment_call<"m", ["f"]> @f_fwd(%0)
        %2 = fragment<"m", ["f"]> (%1) {...}    ~~>      %2 = fragment_call<"m", ["f"]> @f_fwd(%1)

    Bodies are equal when they print the same and their meshes have the same shape; the meshes may
    be different ones. Fragments inside `mpmd.for` stay as they are.
    """

    name: ClassVar[str] = "mpmd-outline-fragments"

    def run(self, module: ir.Operation) -> None:
        outliner = Outliner(Bodies(module))
        for func in functions(module):
            if not is_mpmd_function(func):
                continue
            meshes = topology_of(func)
            for fragment in fragments(entry_block(func)):
                if not fragment.is_call:
                    outliner.outline(fragment, meshes[fragment.mesh])
