"""The pass `mpmd-copy-topology-from-main`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.functions import (
    callee_name,
    functions,
    is_entry_point,
    symbol_name,
)
from mpmd.passes.base import Pass


@dataclass(frozen=True)
class CopyTopologyFromMain(Pass):
    """Gives the callees of `mpmd.call` the topology of the entry function and makes them private.

    From here on a callee is an MPMD function: labels in it are mapped to meshes like those of the
    entry function. A public function with a topology would be another entry point, hence private.

        func.func @main(...) attributes {topology = #t} { mpmd.call @f(...) }
        func.func @f(...)
        ~~>
        func.func private @f(...) attributes {topology = #t}

    Calls inside `mpmd.for` count. A module without a topology is left as it is.
    """

    name: ClassVar[str] = "mpmd-copy-topology-from-main"

    def run(self, module: ir.Operation) -> None:
        by_name = {symbol_name(func): func for func in functions(module)}
        for func in list(by_name.values()):
            if not is_entry_point(func):
                continue
            topology = func.attributes["topology"]
            for callee in sorted(set(_callees(func))):
                by_name[callee].attributes["topology"] = topology
                by_name[callee].attributes["sym_visibility"] = ir.StringAttr.get("private")


def _callees(op: ir.Operation) -> Iterator[str]:
    """Yields the functions called directly in `op` or in the loops in it."""
    for region in op.regions:
        for block in region.blocks:
            for child in block.operations:
                name = child.operation.name
                if name == "mpmd.call":
                    yield callee_name(child.operation)
                elif name == "mpmd.for":
                    yield from _callees(child.operation)
