"""Turns a fragment of an IFRT program into the text of a module that XLA compiles.

The text carries everything that decides what is compiled and nothing else, so equal fragments have
equal text whatever their names are, and the text is a key for compiled code.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.ifrt.program import Call, Fragment
from mpmd.dialect.ifrt.types import ArrayType, IfrtError

DEVICE_MESH = "devices"

# Where a fragment's shardings come from: its own Shardy attributes, XLA's, or it has none.
_SHARDY, _HLO, _PLAIN = "shardy", "hlo", "plain"
_SDY_SHARDING = "sdy.sharding"
_HLO_SHARDING = "mhlo.sharding"
_ALIAS = "tf.aliasing_output"
_DONOR = "jax.buffer_donor"
# What the schedule leaves to other fragments: a hint that would tell equal fragments apart.
_MEMORY_HINT = "reserved_hbm_bytes"
_CALLBACK = re.compile(r"custom_call @\"?xla_\w*python_\w*callback|is_host_transfer = true")


@dataclass(frozen=True)
class FragmentModule:
    """A module ready for XLA. `text` alone, with the number of devices, identifies it."""

    name: str
    text: str
    num_devices: int
    has_host_callback: bool


def fragment_module(
    fragment: Fragment,
    call: Call,
    inputs: Sequence[ArrayType],
    outputs: Sequence[ArrayType],
) -> FragmentModule:
    """Returns the module that `call` executes.

    Donation is what the call says, whatever the fragment's own arguments carry: the same fragment
    may be called with and without it. Shardings are those of the fragment if it has Shardy
    attributes (an argument without is replicated), else those of the call's array types: in
    Shardy's terms, or in those of XLA's older partitioner if the fragment was made for that one.
    """
    module = _standalone(fragment)
    with module.context:
        main = ir.SymbolTable(module.operation)["main"].operation
        _check_signature(fragment, main, inputs, outputs)
        style = _sharding_style(module) if len(call.devices) > 1 else _SHARDY
        arguments = _attributes(main, "arg_attrs", len(inputs))
        results = _attributes(main, "res_attrs", len(outputs))
        if style is not _SHARDY:
            for entries, types in ((arguments, inputs), (results, outputs)):
                for entry, array in zip(entries, types, strict=True):
                    entry.update(_sharding(array, style))
        _set_donation(arguments, call)
        main.attributes["arg_attrs"] = _to_attribute(arguments)
        main.attributes["res_attrs"] = _to_attribute(results)
        main.attributes["sym_visibility"] = ir.StringAttr.get("public")
        if _MEMORY_HINT in main.attributes:
            del main.attributes[_MEMORY_HINT]
        if style is _PLAIN:
            mesh = ir.Operation.parse(device_mesh(len(call.devices)))
            ir.InsertionPoint.at_block_begin(module.body).insert(mesh)
        text = str(module)
    has_callback = _CALLBACK.search(text) is not None
    return FragmentModule(fragment.name, text, len(call.devices), has_callback)


def device_mesh(num_devices: int) -> str:
    """Returns the mesh that `ShardingParam.sdy_text(DEVICE_MESH)` refers to."""
    return f'sdy.mesh @{DEVICE_MESH} = <["devices"={num_devices}]>'


def _sharding_style(module: ir.Module) -> str:
    if "sdy.mesh" in {op.operation.name for op in module.body}:
        return _SHARDY
    return _HLO if _HLO_SHARDING in str(module) else _PLAIN


def _sharding(array: ArrayType, style: str) -> dict[str, ir.Attribute]:
    if style is _HLO:
        return {_HLO_SHARDING: ir.StringAttr.get(array.sharding.hlo_text())}
    return {_SDY_SHARDING: ir.Attribute.parse(array.sharding.sdy_text(DEVICE_MESH))}


def _standalone(fragment: Fragment) -> ir.Module:
    """Returns a nameless copy of the fragment's module whose entry is called main."""
    with fragment.module.context, ir.Location.unknown():
        module = ir.Module.create()
        into = ir.InsertionPoint(module.body)
        for op in fragment.module.regions[0].blocks[0]:
            operation = op.operation
            if operation.name != "builtin.module" and "ifrt.function" not in operation.attributes:
                operation.clone(into)
        if fragment.entry != "main":
            symbols = ir.SymbolTable(module.operation)
            entry = symbols[fragment.entry]
            symbols.replace_all_symbol_uses(fragment.entry, "main", module.operation)
            ir.SymbolTable.set_symbol_name(entry, "main")
    return module


def _check_signature(
    fragment: Fragment,
    main: ir.Operation,
    inputs: Sequence[ArrayType],
    outputs: Sequence[ArrayType],
) -> None:
    signature = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)
    for what, actual, arrays in (
        ("takes", signature.inputs, inputs),
        ("returns", signature.results, outputs),
    ):
        expected = [array.tensor_text() for array in arrays]
        found = [str(value) for value in actual]
        if found != expected:
            raise IfrtError(
                f"fragment {fragment.name} {what} ({', '.join(found)}), but a call has "
                f"({', '.join(expected)})"
            )


def _attributes(function: ir.Operation, name: str, count: int) -> list[dict[str, ir.Attribute]]:
    """Returns the attributes of each argument or result, without those of donation."""
    if name not in function.attributes:
        return [{} for _ in range(count)]
    found = []
    for entry in ir.ArrayAttr(function.attributes[name]):
        entry = ir.DictAttr(entry)
        named = {entry[index].name: entry[index].attr for index in range(len(entry))}
        found.append({key: value for key, value in named.items() if key not in (_ALIAS, _DONOR)})
    return found


def _set_donation(arguments: Sequence[dict[str, ir.Attribute]], call: Call) -> None:
    for index in call.donated:
        arguments[index][_DONOR] = ir.BoolAttr.get(True)
    for index, result in call.aliases:
        arguments[index].pop(_DONOR, None)
        arguments[index][_ALIAS] = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), result)


def _to_attribute(entries: Sequence[dict[str, ir.Attribute]]) -> ir.ArrayAttr:
    return ir.ArrayAttr.get([ir.DictAttr.get(entry) for entry in entries])
