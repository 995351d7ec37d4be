"""The attributes of a fragment's operands and results: its `arg_attrs` and `res_attrs`."""

from __future__ import annotations

from collections.abc import Sequence

from mpmd.dialect._jaxlib import ir

ARG, RES = "arg_attrs", "res_attrs"

ALIASING_OUTPUT = "tf.aliasing_output"
BUFFER_DONOR = "jax.buffer_donor"
MEMORY_KIND = "mhlo.memory_kind"
LAYOUT_MODE = "mhlo.layout_mode"

Attributes = dict[str, ir.Attribute]


def read(op: ir.Operation, name: str, count: int) -> list[Attributes]:
    """Returns a dictionary for each of the `count` operands (ARG) or results (RES) of `op`."""
    if name not in op.attributes:
        return [{} for _ in range(count)]
    return [
        {named.name: named.attr for named in ir.DictAttr(each)}
        for each in ir.ArrayAttr(op.attributes[name])
    ]


def write(op: ir.Operation, name: str, dictionaries: Sequence[Attributes]) -> None:
    """Sets a dictionary for each operand (ARG) or result (RES) of `op`."""
    op.attributes[name] = ir.ArrayAttr.get([ir.DictAttr.get(each) for each in dictionaries])


def is_donated(attributes: Attributes) -> bool:
    """Tells whether an argument of a function may be consumed, as its attributes say."""
    if ALIASING_OUTPUT in attributes:
        return True
    return BUFFER_DONOR in attributes and ir.BoolAttr(attributes[BUFFER_DONOR]).value


def is_on_host(attributes: Attributes) -> bool:
    """Tells whether the attributes of a value place it in the memory of the host."""
    return MEMORY_KIND in attributes and "host" in ir.StringAttr(attributes[MEMORY_KIND]).value
