"""Makes functions of the bodies of fragments, and calls of fragments."""

from __future__ import annotations

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import i64
from mpmd.dialect.fragment import CALL, Fragment, local_type
from mpmd.dialect.functions import set_argument_attributes, terminator, update_function_type
from mpmd.dialect.shardings import SHARDING, sharding_of_type
from mpmd.passes.export._programs import RESERVED_BYTES, Program
from mpmd.passes.export._value_attributes import ARG, RES, Attributes, read

MESH_SHAPE = "mesh_shape"
_KEPT = frozenset(("callee", "mesh_name", "origin"))


def outline(
    fragment: Fragment,
    module_block: ir.Block,
    mesh_shape: ir.Attribute,
    by_name: dict[str, ir.Operation],
) -> Fragment:
    """Moves the body of a region fragment into a new function in `by_name`; returns its call."""
    op = fragment.op
    name = f"{CALL}.{len(by_name)}"
    inputs = [local_type(operand) for operand in op.operands]
    func = ir.Operation.create(
        "func.func",
        attributes={
            "sym_name": ir.StringAttr.get(name),
            "sym_visibility": ir.StringAttr.get("private"),
            "function_type": ir.TypeAttr.get(ir.FunctionType.get(inputs, [])),
            MESH_SHAPE: mesh_shape,
        },
        regions=1,
        ip=ir.InsertionPoint(module_block),
    )
    body = op.regions[0].blocks[0]
    body.append_to(func.regions[0])
    last = terminator(body)
    ir.Operation.create(
        "func.return", operands=list(last.operands), loc=last.location, ip=ir.InsertionPoint(last)
    )
    last.erase()
    update_function_type(func)
    by_name[name] = func
    call = ir.Operation.create(
        CALL,
        results=[result.type for result in op.results],
        operands=list(op.operands),
        attributes={**dict(op.attributes.items()), "callee": ir.FlatSymbolRefAttr.get(name)},
        loc=op.location,
        ip=ir.InsertionPoint(op),
    )
    for old, new in zip(op.results, call.results, strict=True):
        old.replace_all_uses_with(new)
    op.erase()
    return Fragment(call)


def become_program(
    func: ir.Operation, name: str, program: Program, mesh_shape: ir.Attribute
) -> None:
    """Makes the body function `func` the function of `program`."""
    program.name = name
    attributes = func.attributes
    attributes["sym_name"] = ir.StringAttr.get(name)
    attributes[MESH_SHAPE] = mesh_shape
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
