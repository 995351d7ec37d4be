"""Checks that every stage of a microbatch became one fragment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.fragment import Fragment, fragments
from mpmd.dialect.functions import entry_block
from mpmd.passes.base import FunctionPass, PassFailure
from mpmd.passes.optimize._fragment_info import split_type_of

REMAT = "remat"


@dataclass(frozen=True)
class VerifyStageMerging(FunctionPass):
    """Verifies that no two fragments do the same part of the same stage.

    A user who assigns stages says that each is one computation per microbatch and direction. Run
    after fragments were merged: what is left apart then has something in between that must run
    first, and the schedule the user asked for cannot be had. Changes nothing.

    Fragments count by mesh, stage, transpose count, call counter, split type and whether they are
    rematerialised; those without a stage or with several transpose counts do not.
    """

    name: ClassVar[str] = "mpmd-verify-stage-merging"

    def run_on_function(self, func: ir.Operation) -> None:
        seen: set[str] = set()
        for fragment in fragments(entry_block(func)):
            if fragment.stage is None or fragment.transpose_count is None:
                continue
            identity = _identity(fragment)
            if identity in seen:
                origins = ", ".join(map(str, ir.ArrayAttr(fragment.op.attributes["origin"])))
                raise PassFailure(
                    fragment.op,
                    "A valid program cannot have more than one fragment with the same mesh, stage, "
                    "transpose, call counts, split type, and remat flag but found multiple "
                    f"fragments with the same attributes: [{identity}] for current fragment with "
                    f"origin: [{origins}]",
                )
            seen.add(identity)


def _identity(fragment: Fragment) -> str:
    counter = fragment.call_counter
    return (
        f"mesh={fragment.mesh}, stage_id={fragment.stage}, "
        f"transpose_count={fragment.transpose_count}, "
        f"call_count={-1 if counter is None else counter}, "
        f"split_type={split_type_of(fragment) or 'nullopt'}, "
        f"is_remat={int(REMAT in fragment.op.attributes)}"
    )
