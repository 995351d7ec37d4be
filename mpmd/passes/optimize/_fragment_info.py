"""What the rules of users know fragments by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import Origin, quote
from mpmd.dialect.fragment import Fragment
from mpmd.passes.base import PassFailure
from mpmd.passes.optimize._scheduling_units import DROPS_TRANSFERRED, KEEPS_TRANSFERRED

SPLIT_TYPES = {"kKeepTransferred": KEEPS_TRANSFERRED, "kDropTransferred": DROPS_TRANSFERRED}
"""How rules spell the halves of a split backward -> the attribute of their fragments."""


@dataclass(frozen=True)
class FragmentInfo:
    """The identity of a fragment; its text form is that of the rules."""

    origins: tuple[Origin, ...]
    stage: int | None = None
    call_counter: int | None = None
    split_type: str | None = None
    mesh_name: str = ""

    def __str__(self) -> str:
        origins = ",".join(
            quote(o.name) + (f"({o.transpose_count})" if o.transpose_count else "")
            for o in self.origins
        )
        fields = [f"origins=[{origins}]"]
        for name in ("stage", "call_counter", "split_type"):
            if getattr(self, name) is not None:
                fields.append(f"{name}={getattr(self, name)}")
        return f"FragmentInfo({','.join(fields)},mesh_name={quote(self.mesh_name)})"


def split_type_of(fragment: Fragment) -> str | None:
    """Returns which half of a split backward a fragment is, as rules spell it."""
    attributes = fragment.op.attributes
    return next((name for name, mark in SPLIT_TYPES.items() if mark in attributes), None)


def info_of(fragment: Fragment) -> FragmentInfo:
    """Returns the identity of a fragment."""
    return FragmentInfo(
        fragment.origins,
        fragment.stage,
        fragment.call_counter,
        split_type_of(fragment),
        fragment.mesh,
    )


def fragments_by_info(func: ir.Operation, ops: Sequence[ir.Operation]) -> dict[FragmentInfo, int]:
    """Returns the position of every user fragment among `ops` by its identity.

    Raises PassFailure where two have the same one: a rule could mean either.
    """
    found: dict[FragmentInfo, int] = {}
    for position, op in enumerate(ops):
        fragment = Fragment.of(op)
        if fragment is None or not fragment.is_user:
            continue
        info = info_of(fragment)
        if info in found:
            raise PassFailure(
                func,
                f"Fragment info {info} already exists for another fragment. Check if you have "
                "multiple `named_computation` with the same name. If so, please rename one of "
                "them.",
            )
        found[info] = position
    return found
