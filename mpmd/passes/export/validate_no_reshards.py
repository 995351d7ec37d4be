"""mpmd-validate-no-reshards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import read_mesh_tensor
from mpmd.dialect.fragment import Bodies, Fragment, fragments
from mpmd.dialect.functions import callee_name, entry_block, functions, is_mpmd_function
from mpmd.passes.base import Pass, option
from mpmd.passes.export._failures import Fault, fail_or_warn


@dataclass(frozen=True)
class ValidateNoReshards(Pass):
    """Validates that no fragment call does nothing but reshard.

    Such a program returns its arguments, with another sharding: usually the sharding of a value
    differs from what its only user wants.
    """

    name: ClassVar[str] = "mpmd-validate-no-reshards"

    fail_on_reshard_only_fragments: bool = option(
        False, "Fail when a fragment only reshards, instead of warning."
    )

    def run(self, module: ir.Operation) -> None:
        """Checks the fragment calls of `module`."""
        bodies = Bodies(module)
        known: dict[str, bool] = {}
        faults: list[Fault] = []
        for func in functions(module):
            if not is_mpmd_function(func):
                continue
            for fragment in fragments(entry_block(func)):
                if not fragment.is_call:
                    continue
                name = callee_name(fragment.op)
                if name not in known:
                    known[name] = _only_returns(fragment.body(bodies))
                if known[name]:
                    faults.append((fragment.op, _message(fragment, name)))
        fail_or_warn(faults, self.fail_on_reshard_only_fragments)


def _only_returns(body: ir.Block) -> bool:
    return len(body.operations) == 1


def _message(fragment: Fragment, name: str) -> str:
    if fragment.is_user:
        return f"Internal error: reshard-only fragment '{name}' is not an inferred fragment"
    operands = ", ".join(f"{_describe(value)} {value.location}" for value in fragment.operands)
    results = ", ".join(map(_describe, fragment.results))
    return (
        f"Detected reshard-only fragment '{name}'. This usually indicates an unexpected reshard."
        f" Operands: {operands}. Results: {results}"
    )


def _describe(value: ir.Value) -> str:
    parts = read_mesh_tensor(value.type)
    assert parts is not None, f"a fragment takes and makes mesh tensors, not {value.type}"
    shape = str(parts.tensor).removeprefix("tensor")
    sharding = "Replicated" if parts.sharding is None else f"#sdy.sharding<{parts.sharding}>"
    return f"{sharding} {shape}"
