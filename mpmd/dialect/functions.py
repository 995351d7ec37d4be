"""Functions of a module: which of them are MPMD functions, who calls them, how they change type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import MeshShape, is_mesh_tensor, read_topology


def functions(module: ir.Operation) -> Iterator[ir.Operation]:
    """Yields the functions of `module` that have a body, in order; safe against erasure."""
    for op in list(module.regions[0].blocks[0].operations):
        if op.operation.name == "func.func" and len(op.operation.regions[0].blocks):
            yield op.operation


def symbol_name(op: ir.Operation) -> str:
    """Returns the symbol that `op` defines."""
    return ir.StringAttr(op.attributes["sym_name"]).value


def is_private(func: ir.Operation) -> bool:
    """Tells whether `func` is visible inside its module only."""
    attributes = func.attributes
    return (
        "sym_visibility" in attributes
        and ir.StringAttr(attributes["sym_visibility"]).value == "private"
    )


def is_public(func: ir.Operation) -> bool:
    """Tells whether `func` is visible outside its module."""
    attributes = func.attributes
    return (
        "sym_visibility" not in attributes
        or ir.StringAttr(attributes["sym_visibility"]).value == "public"
    )


def is_entry_point(func: ir.Operation) -> bool:
    """Tells whether `func` is an MPMD function that a user calls: public, with a topology."""
    return is_mpmd_function(func) and not is_private(func)


def is_mpmd_function(func: ir.Operation) -> bool:
    """Tells whether `func` has a topology."""
    return "topology" in func.attributes


def topology_of(func: ir.Operation) -> dict[str, MeshShape]:
    """Returns the meshes of an MPMD function."""
    return read_topology(func.attributes["topology"])


def is_distributed(func: ir.Operation) -> bool:
    """Tells whether all arguments and results of `func` are mesh tensors, and there is one."""
    type_ = function_type(func)
    types = [*type_.inputs, *type_.results]
    return bool(types) and all(map(is_mesh_tensor, types))


def function_type(func: ir.Operation) -> ir.FunctionType:
    """Returns the type of `func`."""
    return ir.FunctionType(ir.TypeAttr(func.attributes["function_type"]).value)


def entry_block(func: ir.Operation) -> ir.Block:
    """Returns the body of `func`."""
    return func.regions[0].blocks[0]


def terminator(block: ir.Block) -> ir.Operation:
    """Returns the last operation of `block`, in time that does not depend on its length."""
    return ir.InsertionPoint.at_block_terminator(block).ref_operation.operation


def update_function_type(func: ir.Operation) -> None:
    """Makes the type of `func` agree with its block arguments and returned values."""
    block = entry_block(func)
    inputs = [argument.type for argument in block.arguments]
    results = [value.type for value in terminator(block).operands]
    func.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, results))


def argument_attributes(
    func: ir.Operation, name: str = "arg_attrs"
) -> list[dict[str, ir.Attribute]]:
    """Returns a dictionary per argument (`arg_attrs`) or per result (`res_attrs`) of `func`."""
    type_ = function_type(func)
    count = len(type_.inputs if name == "arg_attrs" else type_.results)
    if name not in func.attributes:
        return [{} for _ in range(count)]
    return [
        {named.name: named.attr for named in ir.DictAttr(each)}
        for each in ir.ArrayAttr(func.attributes[name])
    ]


def set_argument_attributes(
    func: ir.Operation, dictionaries: Sequence[dict[str, ir.Attribute]], name: str = "arg_attrs"
) -> None:
    """Replaces the `arg_attrs` or `res_attrs` of `func`."""
    if any(dictionaries):
        func.attributes[name] = ir.ArrayAttr.get([ir.DictAttr.get(each) for each in dictionaries])
    elif name in func.attributes:
        del func.attributes[name]


def callee_name(call: ir.Operation) -> str:
    """Returns the symbol that an `mpmd.call`, `mpmd.fragment_call` or `func.call` names."""
    return ir.FlatSymbolRefAttr(call.attributes["callee"]).value


def calls_by_callee(module: ir.Operation, name: str = "mpmd.call") -> dict[str, list[ir.Operation]]:
    """Returns callee symbol -> its calls in order, of those at the top level of functions."""
    calls: dict[str, list[ir.Operation]] = {}
    for func in functions(module):
        for op in entry_block(func).operations:
            if op.operation.name == name:
                calls.setdefault(callee_name(op.operation), []).append(op.operation)
    return calls
