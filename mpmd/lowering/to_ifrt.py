"""Lowers an MPMD program of fragment calls and transfers to IFRT IR."""

from __future__ import annotations

from mpmd.dialect._jaxlib import ir, load_ifrt
from mpmd.dialect.functions import (
    argument_attributes,
    entry_block,
    functions,
    is_entry_point,
    set_argument_attributes,
    symbol_name,
    topology_of,
    update_function_type,
)
from mpmd.lowering.calls import Calls
from mpmd.lowering.donation import marked_donated
from mpmd.lowering.errors import LoweringError
from mpmd.lowering.fragment_modules import FragmentModules
from mpmd.lowering.transfers import TRANSFER, Transfers, plan_transfers
from mpmd.lowering.types import Arrays


def lowered_to_ifrt(module: ir.Module) -> ir.Module:
    """Returns the IFRT program of an MPMD program, which stays as it is."""
    with module.context, ir.Location.unknown():
        copy = ir.Module.create(module.operation.location)
        for name, attribute in module.operation.attributes.items():
            copy.operation.attributes[name] = attribute
        for op in module.body.operations:
            op.operation.clone(ir.InsertionPoint(copy.body))
        lower_to_ifrt(copy.operation)
    return copy


_MOST_DEVICES = 2**20
"""IFRT lists all devices in the type of every array."""


def lower_to_ifrt(module: ir.Operation) -> None:
    """Turns the MPMD program in `module` into an IFRT program, in place.

    Fragment calls become `ifrt.Call`s, chained on each mesh in the order of the program, transfers
    become copies (or reshards, where the sharding changes), and each fragment function moves into
    a module of its own. Raises LoweringError for anything else.
    """
    if not load_ifrt(module.context):
        module.context.allow_unregistered_dialects = True
    with module.context, ir.Location.unknown():
        everything = {symbol_name(func): func for func in functions(module)}
        entries = [func for func in everything.values() if is_entry_point(func)]
        if len(entries) != 1:
            raise LoweringError(
                module, f"expected one public function with a topology, found {len(entries)}"
            )
        entry = entries[0]
        calls = _lower_function(entry, everything)
        modules = FragmentModules(module)
        entry.erase()
        used = [modules.make(name, *types) for name, types in calls.signatures.items()]
        for name, func in everything.items():
            if func is not entry and name not in used:
                func.erase()


def _lower_function(func: ir.Operation, everything: dict[str, ir.Operation]) -> Calls:
    """Adds the IFRT function of an entry point before it; returns what it calls."""
    block = entry_block(func)
    topology = topology_of(func)
    devices = sum(mesh.size for mesh in topology.values())
    if devices > _MOST_DEVICES:
        raise LoweringError(func, f"the topology has {devices} devices, more than {_MOST_DEVICES}")
    arrays = Arrays(topology)
    lowered = ir.Operation.create(
        "func.func",
        attributes={k: v for k, v in func.attributes.items() if k != "topology"},
        regions=1,
        loc=func.location,
        ip=ir.InsertionPoint(func),
    )
    lowered.attributes["ifrt.function"] = ir.UnitAttr.get()
    body = lowered.regions[0].blocks.append(
        *[arrays.of(argument).type for argument in block.arguments],
        arg_locs=[argument.location for argument in block.arguments],
    )
    values: dict[ir.Value, ir.Value] = dict(zip(block.arguments, body.arguments, strict=True))
    ip = ir.InsertionPoint(body)
    calls = Calls(arrays, values, everything, ip)
    transfers = Transfers(arrays, values, ip)
    ops = [each.operation for each in block.operations]
    batches = plan_transfers(ops, arrays)
    for place, op in enumerate(ops):
        if op.name == TRANSFER:
            if place in batches:
                transfers.add(batches[place])
        elif op.name == "mpmd.fragment_call":
            calls.add(op)
        elif op.name == "func.return":
            returned = [values[value] for value in op.operands]
            ir.Operation.create(op.name, operands=returned, loc=op.location, ip=ip)
        else:
            raise LoweringError(
                op, f"only fragment calls and transfers can be lowered to IFRT, found {op.name}"
            )
    update_function_type(lowered)
    set_argument_attributes(lowered, [marked_donated(each) for each in argument_attributes(func)])
    return calls
