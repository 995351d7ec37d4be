"""mpmd-mark-offloaded-input-output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import quote
from mpmd.dialect.fragment import Bodies, Fragment, fragments
from mpmd.dialect.functions import (
    argument_attributes,
    callee_name,
    entry_block,
    functions,
    is_entry_point,
    terminator,
)
from mpmd.passes.base import Pass
from mpmd.passes.export._failures import Fault, fail_or_warn
from mpmd.passes.export._value_attributes import ARG, MEMORY_KIND, RES, Attributes, read, write

_ANNOTATE = "annotate_device_placement"
_FRONTEND_ATTRIBUTES = "mhlo.frontend_attributes"
_PLACEMENT = "_xla_buffer_placement"

Kind = str | None
"""The memory kind of a value in host memory; None for all others."""


@dataclass(frozen=True)
class MarkOffloadedInputOutput(Pass):
    """Marks the operands and results of fragments that live in the memory of the host.

    A result does when the fragment itself puts it there (`annotate_device_placement`), an operand
    when its value does: such a result, or an argument of the function with `mhlo.memory_kind`.

        %1 = mpmd.fragment<mesh="m", origin=["f"]> (%0) (%a) {
          %x = stablehlo.custom_call @annotate_device_placement(%a) {pinned_host}
          mpmd.return %x
        }
        ~~>
        %1 = mpmd.fragment<...> (%0) {res_attrs = [{mhlo.memory_kind = "pinned_host"}]} ...

    Fails where the function says of an argument or a result what its users or its maker do not do.
    Memory kinds that are part of types are left alone.
    """

    name: ClassVar[str] = "mpmd-mark-offloaded-input-output"

    def run(self, module: ir.Operation) -> None:
        """Marks the fragments of `module`."""
        bodies = Bodies(module)
        returned: dict[str, list[Kind]] = {}
        for func in functions(module):
            if is_entry_point(func):
                _mark(func, bodies, returned)


def _mark(func: ir.Operation, bodies: Bodies, returned: dict[str, list[Kind]]) -> None:
    block = entry_block(func)
    kinds: dict[ir.Value, str] = {}  # of what is on the host, mostly nothing
    for argument, its in zip(block.arguments, argument_attributes(func), strict=True):
        kind = _kind(its)
        if kind is not None:
            kinds[argument] = kind
    for fragment in fragments(block):
        op = fragment.op
        made = _returned_kinds(fragment, bodies, returned)
        for result, kind in zip(op.results, made, strict=True) if any(made) else ():
            if kind is not None:
                kinds[result] = kind
        count = len(op.operands)
        taken = [kinds.get(operand) for operand in op.operands] if kinds else [None] * count
        for name, found in ((ARG, taken), (RES, made)):
            _write_kinds(op, name, found)
    fail_or_warn(_mismatches(func, block, kinds), failing=True)


def _write_kinds(op: ir.Operation, name: str, kinds: Sequence[Kind]) -> None:
    """Adds memory kinds to what `op` says of its operands (ARG) or results (RES)."""
    if name in op.attributes and not any(kinds):
        return
    attributes = read(op, name, len(kinds))
    for each, kind in zip(attributes, kinds, strict=True):
        if kind is not None:
            each[MEMORY_KIND] = ir.StringAttr.get(kind)
    write(op, name, attributes)


def _kind(attributes: Attributes) -> Kind:
    return _host_kind(attributes[MEMORY_KIND]) if MEMORY_KIND in attributes else None


def _host_kind(attribute: ir.Attribute) -> Kind:
    kind = ir.StringAttr(attribute).value
    return kind if "host" in kind else None


def _returned_kinds(
    fragment: Fragment, bodies: Bodies, returned: dict[str, list[Kind]]
) -> Sequence[Kind]:
    """Returns where a fragment puts its results; looks at each shared body once."""
    if not fragment.is_call:
        return _annotated_kinds(fragment.body(bodies))
    name = callee_name(fragment.op)
    if name not in returned:
        returned[name] = _annotated_kinds(fragment.body(bodies))
    return returned[name]


def _annotated_kinds(body: ir.Block) -> list[Kind]:
    return [_annotation(value) for value in terminator(body).operands]


def _annotation(value: ir.Value) -> Kind:
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "stablehlo.custom_call":
        return None
    attributes = owner.operation.attributes
    if ir.StringAttr(attributes["call_target_name"]).value != _ANNOTATE:
        return None
    if _FRONTEND_ATTRIBUTES not in attributes:
        return None
    frontend = ir.DictAttr(attributes[_FRONTEND_ATTRIBUTES])
    return _host_kind(frontend[_PLACEMENT]) if _PLACEMENT in frontend else None


def _mismatches(func: ir.Operation, block: ir.Block, kinds: dict[ir.Value, str]) -> list[Fault]:
    """Returns where what the function says of its boundary is not what its body does."""
    last = terminator(block)
    declared = [_kind(attributes) for attributes in argument_attributes(func, RES)]
    results = list(zip(last.operands, declared, strict=True))
    faults: list[Fault] = []
    for number, argument in enumerate(block.arguments):
        for value, kind in results:
            if value == argument and kind != kinds.get(argument):
                faults.append(
                    (
                        argument.location,
                        f"Memory kind mismatch between arg {number} and users:"
                        f" {_text(kinds.get(argument))} vs {_text(kind)}",
                    )
                )
    for number, (value, kind) in enumerate(results):
        made = kinds.get(value)
        if kind != made:
            faults.append(
                (
                    last,
                    f"Memory kind mismatch between result {number} and defining op:"
                    f" {_text(kind)} vs {_text(made)}",
                )
            )
    return faults


def _text(kind: Kind) -> str:
    return "<<NULL ATTRIBUTE>>" if kind is None else quote(kind)
