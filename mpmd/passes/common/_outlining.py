"""Turning region fragments into calls of private functions that equal fragments share."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import MeshShape, Origin, mesh_shape_attribute
from mpmd.dialect.fragment import CALL, Bodies, Fragment
from mpmd.dialect.functions import (
    callee_name,
    entry_block,
    functions,
    is_mpmd_function,
    terminator,
    update_function_type,
)

MESH_SHAPE = "mesh_shape"


class Outliner:
    """Outlines fragments of one module; knows every body that it has seen."""

    def __init__(self, bodies: Bodies) -> None:
        self._bodies = bodies
        self._known: dict[str, str] | None = None

    def outline(self, fragment: Fragment, shape: MeshShape) -> Fragment:
        """Replaces a region fragment on a mesh of `shape` by a call, which it returns."""
        name = self._function(fragment, shape)
        old = fragment.op
        new = ir.Operation.create(
            CALL,
            results=[result.type for result in old.results],
            operands=fragment.operands,
            attributes={
                **dict(old.attributes.items()),
                "callee": ir.FlatSymbolRefAttr.get(name),
            },
            ip=ir.InsertionPoint(old),
            loc=old.location,
        )
        for result, value in zip(old.results, new.results, strict=True):
            result.replace_all_uses_with(value)
        old.erase()
        return Fragment(new)

    def _function(self, fragment: Fragment, shape: MeshShape) -> str:
        """Moves the body into a function, or drops it for an equal one; returns its name."""
        func = ir.Operation.create(
            "func.func",
            attributes={
                "sym_name": ir.StringAttr.get(""),
                "sym_visibility": ir.StringAttr.get("private"),
                "function_type": ir.TypeAttr.get(ir.FunctionType.get([], [])),
                MESH_SHAPE: mesh_shape_attribute(shape),
            },
            regions=1,
            loc=fragment.op.location,
        )
        block = fragment.body(self._bodies)
        block.append_to(func.regions[0])
        last = terminator(block)
        ir.Operation.create("func.return", operands=list(last.operands), ip=ir.InsertionPoint(last))
        last.erase()
        update_function_type(func)
        known = self._known if self._known is not None else self._read_known()
        text = _text(func)
        found = known.get(text)
        if found is None:
            found = known[text] = self._bodies.adopt(body_name(fragment.origins), func)
        else:
            func.erase()
        return found

    def _read_known(self) -> dict[str, str]:
        """Reads the bodies of the calls that the module has already."""
        callees = {
            callee_name(op.operation)
            for func in functions(self._bodies.module)
            if is_mpmd_function(func)
            for op in entry_block(func).operations
            if op.operation.name == CALL
        }
        self._known = {}
        for name in callees:
            self._known.setdefault(_text(self._bodies.function(name)), name)
        return self._known


def _text(func: ir.Operation) -> str:
    """Returns what makes two functions equal: all of them but the name and the locations."""
    text = func.get_asm(use_local_scope=True, assume_verified=True)
    return text[text.index("(") :]


def body_name(origins: Sequence[Origin]) -> str:
    """Returns a readable name for the body of a fragment, e.g. `encoder_fwd`."""
    if not origins:
        return "inferred"
    labels = list(dict.fromkeys(origin.name for origin in origins))
    shown = "_".join(labels[:3]) + (f"_and_{len(labels) - 3}" if len(labels) > 3 else "")
    counts = sorted({origin.transpose_count for origin in origins})
    directions = "_".join(_DIRECTIONS.get(count, f"bwd{count}") for count in counts)
    return re.sub(r"\W", "_", f"{shown}_{directions}")


_DIRECTIONS = {0: "fwd", 1: "bwd"}
