"""mpmd-mark-input-output-with-layouts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.fragment import Fragment, fragments
from mpmd.dialect.functions import (
    argument_attributes,
    entry_block,
    is_entry_point,
    set_argument_attributes,
    terminator,
)
from mpmd.passes.base import FunctionPass, PassFailure
from mpmd.passes.export._value_attributes import ARG, LAYOUT_MODE, RES, Attributes, read, write

_AUTO, _DEFAULT = "auto", "default"

Layout = str | None
"""What a value's layout is: `auto`, a concrete one, or None for the default one."""


@dataclass(frozen=True)
class MarkInputOutputWithLayouts(FunctionPass):
    """Propagates the layouts of a function's inputs and outputs to the fragments that use them.

    `mhlo.layout_mode` is a layout, `default`, or `auto`: XLA may choose. One value has one layout,
    so a layout given in one place holds in all, and a value that several programs share can have no
    chosen one.

        func.func @main(%0 {mhlo.layout_mode = "{0,1}"}) { %1 = mpmd.fragment<...> (%0) ... }
        ~~>
        ... %1 = mpmd.fragment<...> (%0) {arg_attrs = [{mhlo.layout_mode = "{0,1}"}]}

    Transferred values have the default layout. Fails where a value is returned with two layouts.
    """

    name: ClassVar[str] = "mpmd-mark-input-output-with-layouts"

    def applies_to(self, func: ir.Operation) -> bool:
        """Tells whether `func` is what the user calls."""
        return is_entry_point(func)

    def run_on_function(self, func: ir.Operation) -> None:
        """Propagates the layouts of `func`."""
        block = entry_block(func)
        arguments = argument_attributes(func)
        results = argument_attributes(func, RES)
        if not any(LAYOUT_MODE in each for each in [*arguments, *results]):
            _mark_without_layouts(block)
            return
        returned = _returned(terminator(block), results)
        layouts: dict[ir.Value, Layout] = {}
        for number, argument in enumerate(block.arguments):
            if any(True for _ in argument.uses):
                layout = _argument_layout(func, number, argument, arguments, returned)
                layouts[argument] = layout
                _set(arguments[number], layout)
        for fragment in fragments(block):
            for result in fragment.results:
                layouts[result] = _result_layout(result, returned.get(result))
        for value, its in zip(terminator(block).operands, results, strict=True):
            if value in layouts:
                _set(its, layouts[value])
        for fragment in fragments(block):
            for name, values in _values_with_layouts(fragment):
                attributes = read(fragment.op, name, len(values))
                for value, each in zip(values, attributes, strict=True):
                    _set(each, layouts.get(value))
                write(fragment.op, name, attributes)
        set_argument_attributes(func, arguments)
        set_argument_attributes(func, results, RES)


def _mark_without_layouts(block: ir.Block) -> None:
    for fragment in fragments(block):
        for name, values in _values_with_layouts(fragment):
            if name not in fragment.op.attributes:
                write(fragment.op, name, [{} for _ in values])
        for number, result in enumerate(fragment.op.results):
            if not any(True for _ in result.uses):
                _set_of_result(fragment.op, number, _AUTO)


def _values_with_layouts(fragment: Fragment) -> list[tuple[str, list[ir.Value]]]:
    """Returns what a fragment takes and makes, as far as a layout is known for any of it.

    What only passes on between meshes has none.
    """
    found = [(RES, fragment.results)]
    if any(map(_has_layout, fragment.operands)):
        found.append((ARG, fragment.operands))
    return found


def _has_layout(value: ir.Value) -> bool:
    if isinstance(value, ir.BlockArgument):
        return True
    maker = value.owner.operation
    if maker.name == "mpmd.transfer":
        return isinstance(maker.operands[0], ir.BlockArgument)
    return Fragment.of(maker) is not None


@dataclass(frozen=True)
class _Returned:
    """The layout with which a value is returned, and the first result that says so."""

    attribute: ir.Attribute | None
    result: int

    @property
    def layout(self) -> Layout:
        return _layout(self.attribute)


def _layout(attribute: ir.Attribute | None) -> Layout:
    text = _DEFAULT if attribute is None else ir.StringAttr(attribute).value
    return None if text == _DEFAULT else text


def _set_of_result(op: ir.Operation, number: int, layout: Layout) -> None:
    attributes = read(op, RES, len(op.results))
    _set(attributes[number], layout)
    write(op, RES, attributes)


def _set(attributes: Attributes, layout: Layout) -> None:
    attributes.pop(LAYOUT_MODE, None)
    if layout is not None:
        attributes[LAYOUT_MODE] = ir.StringAttr.get(layout)


def _returned(last: ir.Operation, results: Sequence[Attributes]) -> dict[ir.Value, _Returned]:
    """Returns the layout of each returned value; one other than `auto` wins."""
    found: dict[ir.Value, _Returned] = {}
    for number, (value, attributes) in enumerate(zip(last.operands, results, strict=True)):
        new = _Returned(attributes.get(LAYOUT_MODE), number)
        old = found.get(value)
        if old is None or old.layout == _AUTO:
            found[value] = new
        elif new.layout not in (_AUTO, old.layout):
            raise PassFailure(
                last,
                f"Result #{number} is also returned as result #{old.result}, but with incompatible"
                f" layouts: {_text(new.attribute)} vs. {_text(old.attribute)}",
            )
    return found


def _argument_layout(
    func: ir.Operation,
    number: int,
    argument: ir.Value,
    attributes: Sequence[Attributes],
    returned: dict[ir.Value, _Returned],
) -> Layout:
    own = attributes[number].get(LAYOUT_MODE)
    as_result = returned.get(argument)
    layout = _layout(own)
    users = _Users(argument)
    if users.transfers:
        return None
    if as_result is not None and as_result.layout != _AUTO:
        if layout not in (_AUTO, as_result.layout):
            raise PassFailure(
                func,
                f"Arg #{number} is returned as result #{as_result.result}, but with incompatible"
                f" layouts: {_text(own)} vs. {_text(as_result.attribute)}",
            )
        return as_result.layout
    return None if layout == _AUTO and users.fragments > 1 else layout


def _result_layout(result: ir.Value, returned: _Returned | None) -> Layout:
    users = _Users(result)
    if users.transfers:
        return None
    if returned is not None and returned.layout != _AUTO:
        return returned.layout
    return None if users.fragments else _AUTO


class _Users:
    """How many fragments and transfers use a value."""

    def __init__(self, value: ir.Value) -> None:
        users = [use.owner.operation for use in value.uses]
        self.fragments = sum(Fragment.of(user) is not None for user in users)
        self.transfers = sum(user.name == "mpmd.transfer" for user in users)


def _text(attribute: ir.Attribute | None) -> str:
    return "<<NULL ATTRIBUTE>>" if attribute is None else str(attribute)
