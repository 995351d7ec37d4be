"""Makes the functions of programs, and lets fragments call them."""

from __future__ import annotations

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import i64
from mpmd.dialect.functions import set_argument_attributes
from mpmd.dialect.shardings import SHARDING, sharding_of_type
from mpmd.passes.export._programs import RESERVED_BYTES, Program
from mpmd.passes.export._value_attributes import ARG, RES, Attributes, read

_KEPT = frozenset(("callee", "mesh_name", "origin"))


def become_program(func: ir.Operation, name: str, program: Program) -> None:
    """Makes the body function `func` the function of `program`."""
    program.name = name
    attributes = func.attributes
    attributes["sym_name"] = ir.StringAttr.get(name)
    if "sym_visibility" in attributes:
        del attributes["sym_visibility"]
    reserved = program.reserved_bytes
    if reserved is not None:
        attributes[RESERVED_BYTES] = i64(reserved)
    elif RESERVED_BYTES in attributes:  # of the program that the function was cloned from
        del attributes[RESERVED_BYTES]
    op = program.first.op
    for which, values in ((ARG, list(op.operands)), (RES, list(op.results))):
        described = [
            _with_sharding(each, value)
            for each, value in zip(read(op, which, len(values)), values, strict=True)
        ]
        set_argument_attributes(func, described, which)


def _with_sharding(attributes: Attributes, value: ir.Value) -> Attributes:
    sharding = sharding_of_type(value.type)
    return attributes if sharding is None else {**attributes, SHARDING: sharding}


def call_program(program: Program) -> None:
    """Makes the fragments of `program` call its function, which now holds what they said."""
    callee = ir.FlatSymbolRefAttr.get(program.name)
    for fragment in program.fragments:
        attributes = fragment.op.attributes
        attributes["callee"] = callee
        for name in [name for name, _ in attributes.items()]:
            if name not in _KEPT:
                del attributes[name]
