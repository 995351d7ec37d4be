"""The attributes of a fragment's operands and results: its `arg_attrs` and `res_attrs`."""

from __future__ import annotations

from collections.abc import Sequence

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import memo

ARG, RES = "arg_attrs", "res_attrs"

MEMORY_KIND = "mhlo.memory_kind"
LAYOUT_MODE = "mhlo.layout_mode"

Attributes = dict[str, ir.Attribute]


def read(op: ir.Operation, name: str, count: int) -> list[Attributes]:
    """Returns a dictionary for each of the `count` operands (ARG) or results (RES) of `op`."""
    attributes = op.attributes
    if name not in attributes:
        return [{} for _ in range(count)]
    return [dict(each) for each in _dictionaries(attributes[name])]


def write(op: ir.Operation, name: str, dictionaries: Sequence[Attributes]) -> None:
    """Sets a dictionary for each operand (ARG) or result (RES) of `op`."""
    op.attributes[name] = joined(dictionaries)


def joined(dictionaries: Sequence[Attributes]) -> ir.ArrayAttr:
    """Returns the `arg_attrs` or `res_attrs` of these dictionaries."""
    if any(dictionaries):
        return ir.ArrayAttr.get([ir.DictAttr.get(each) for each in dictionaries])
    return _empty(len(dictionaries))


def says_nothing(attribute: ir.Attribute) -> bool:
    """Tells whether all dictionaries of an `arg_attrs` or `res_attrs` are empty."""
    return not any(_dictionaries(attribute))


def on_host(op: ir.Operation, name: str) -> Sequence[int]:
    """Returns the numbers of the operands (ARG) or results (RES) of `op` in host memory."""
    attributes = op.attributes
    if name not in attributes:
        return ()
    attribute = attributes[name]
    return memo(
        attribute.context,
        ("on host", attribute),
        lambda: tuple(
            number for number, each in enumerate(_dictionaries(attribute)) if is_on_host(each)
        ),
    )


def _dictionaries(attribute: ir.Attribute) -> tuple[Attributes, ...]:
    return memo(
        attribute.context,
        ("dictionaries", attribute),
        lambda: tuple(
            {each[number].name: each[number].attr for number in range(len(each))}
            for each in map(ir.DictAttr, ir.ArrayAttr(attribute))
        ),
    )


def _empty(count: int) -> ir.ArrayAttr:
    return memo(
        ir.Context.current,
        ("empty dictionaries", count),
        lambda: ir.ArrayAttr.get([ir.DictAttr.get({})] * count),
    )


def is_on_host(attributes: Attributes) -> bool:
    """Tells whether the attributes of a value place it in the memory of the host."""
    return MEMORY_KIND in attributes and "host" in ir.StringAttr(attributes[MEMORY_KIND]).value
