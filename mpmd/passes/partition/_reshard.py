"""Fragments that do nothing but change the sharding of a value."""

from __future__ import annotations

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import mesh_of, parse_attribute, strings_attribute
from mpmd.dialect.fragment import CALL, REGION, Bodies, fragments, local_type
from mpmd.dialect.functions import topology_of, update_function_type
from mpmd.dialect.shardings import OUT, producer, write_shardings

INFERRED_BY = "extract_reshards"


def create_reshard(
    bodies: Bodies, value: ir.Value, sharding: ir.Attribute | None, ip: ir.InsertionPoint
) -> ir.Operation:
    """Creates an inferred fragment that returns `value` with `sharding`.

    It has the form of the fragments around it: where they are calls, so is this one.
    """
    mesh = mesh_of(value)
    assert mesh is not None
    attributes: dict[str, ir.Attribute] = {
        "mesh_name": ir.StringAttr.get(mesh),
        "origin": ir.ArrayAttr.get([]),
        "mpmd.inferred_by": strings_attribute([INFERRED_BY]),
    }
    tensor = local_type(value)
    as_call = _uses_calls(bodies, ip.block)
    if as_call:
        attributes["callee"] = ir.FlatSymbolRefAttr.get(
            _identity(bodies, tensor, ip.block.owner.operation, mesh)
        )
    op = ir.Operation.create(
        CALL if as_call else REGION,
        results=[value.type],
        operands=[value],
        attributes=attributes,
        regions=0 if as_call else 1,
        ip=ip,
        loc=_location(value),
    )
    if not as_call:
        body = op.regions[0].blocks.append(tensor, arg_locs=[ir.Location.unknown()])
        ir.Operation.create(
            "mpmd.return", operands=list(body.arguments), ip=ir.InsertionPoint(body)
        )
    if sharding is not None:
        write_shardings(op, OUT, [sharding])
    return op


def _location(value: ir.Value) -> ir.Location:
    made_by = producer(value)
    return ir.Location.unknown() if made_by is None else made_by.location


def _uses_calls(bodies: Bodies, block: ir.Block) -> bool:
    """Tells whether the fragments of `block` are calls, as far as the first one shows."""
    key = ("uses calls", block.owner)
    found = bodies.recall(key)
    if found is None:
        first = next(iter(fragments(block)), None)
        found = first is not None and first.is_call
        bodies.remember(key, found)
    return bool(found)


def _identity(bodies: Bodies, tensor: ir.Type, func: ir.Operation, mesh: str) -> str:
    """Returns the function that returns its argument, one per type and shape of a mesh."""
    shape = parse_attribute(f"#sdy.mesh{topology_of(func)[mesh]}")
    key = ("identity", tensor, shape)
    name = bodies.recall(key)
    if name is None:
        name, body = bodies.add_function("reshard", [tensor], {"mesh_shape": shape})
        returned = list(body.arguments)
        ir.Operation.create("func.return", operands=returned, ip=ir.InsertionPoint(body))
        update_function_type(bodies.function(name))
        bodies.remember(key, name)
    return str(name)
