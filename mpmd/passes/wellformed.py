"""Checks what passes count on and the verifiers of the dialects leave open.

Modules that the frontend makes are like this by construction, so `mpmd.jit` does not pay for it;
`mpmd-opt` reads what people write.
"""

from __future__ import annotations

from collections.abc import Callable

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.donation import ALIASING_OUTPUT, BUFFER_DONOR
from mpmd.dialect.fragment import CALL, REGION
from mpmd.dialect.functions import (
    callee_name,
    function_type,
    is_mpmd_function,
    symbol_name,
    topology_of,
)
from mpmd.passes.base import PassFailure

_CALLS = ("mpmd.call", CALL)
_WITH_SIDES = ("func.func", "mpmd.for", "mpmd.call", REGION, CALL)
_COUNTERS = 2**32


def check(module: ir.Operation) -> None:
    """Raises PassFailure where `module` is not what passes can work on."""
    operations: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        operations.append(op.operation)
        return ir.WalkResult.ADVANCE

    module.walk(visit)
    for op in operations:
        _check_attributes(op)
    _check_functions(module, operations)


def check_signatures(module: ir.Operation) -> None:
    """Raises PassFailure where a function says something of other arguments than it has.

    MLIR itself would crash as soon as it prints such a function.
    """
    for region in module.regions:
        for op in [view.operation for block in region for view in block.operations]:
            if op.name == "func.func":
                for name, count in _sides(op):
                    _dictionaries(op, name, count)
            elif op.name == "builtin.module":
                check_signatures(op)


def _sides(op: ir.Operation) -> list[tuple[str, int]]:
    """Returns the attributes about operands and results of `op`, and how many it has of them."""
    if op.name == "func.func":
        type_ = function_type(op)
        return [("arg_attrs", len(type_.inputs)), ("res_attrs", len(type_.results))]
    return [("arg_attrs", len(op.operands)), ("res_attrs", len(op.results))]


def _dictionaries(op: ir.Operation, name: str, count: int) -> list[ir.DictAttr]:
    """Returns the dictionaries in attribute `name`, if it is there; there must be `count`."""
    if name not in op.attributes:
        return []
    found = op.attributes[name]
    if (
        not isinstance(found, ir.ArrayAttr)
        or len(found) != count
        or not all(isinstance(each, ir.DictAttr) for each in found)
    ):
        raise PassFailure(op, f"'{name}' must be an array of {count} dictionaries, got {found}")
    return [ir.DictAttr(each) for each in found]


# --- attributes ---------------------------------------------------------------------------------


def _is_counter(attribute: ir.Attribute) -> bool:
    return isinstance(attribute, ir.IntegerAttr) and 0 <= attribute.value < _COUNTERS


def _is_size(attribute: ir.Attribute) -> bool:
    return isinstance(attribute, ir.IntegerAttr) and attribute.value >= 0


def _is_string(attribute: ir.Attribute) -> bool:
    return isinstance(attribute, ir.StringAttr)


def _is_strings(attribute: ir.Attribute) -> bool:
    return isinstance(attribute, ir.ArrayAttr) and all(map(_is_string, attribute))


def _spelled(prefix: str) -> Callable[[ir.Attribute], bool]:
    """Returns a test for attributes of a kind that the bindings have no class for."""
    return lambda attribute: str(attribute).startswith(prefix)


Rule = tuple[Callable[[ir.Attribute], bool], str]

_MESHES: Rule = (_spelled("#mpmd.meshes_with_origins<"), "a #mpmd.meshes_with_origins attribute")
_COUNTER: Rule = (_is_counter, "an unsigned 32-bit integer")

_ANYWHERE: dict[str, Rule] = {
    "call_counter": _COUNTER,
    "unroll_counter": _COUNTER,
    "mpmd.use_set": _MESHES,
    "mpmd.src_set": _MESHES,
    "mpmd.reduce": (_spelled("#mpmd.reduction<"), "a #mpmd.reduction attribute"),
}
_ON_FRAGMENTS: dict[str, Rule] = {
    "mpmd.inferred_by": (_is_strings, "an array of strings"),
    "reserved_hbm_bytes": (_is_size, "a number of bytes"),
}
_ON_FUNCTIONS: dict[str, Rule] = {
    "topology": (_spelled("#mpmd.topology<"), "a #mpmd.topology attribute"),
    "mesh_shape": (_spelled("#sdy.mesh<"), "a #sdy.mesh attribute"),
    "reserved_hbm_bytes": (_is_size, "a number of bytes"),
}
_ON_VALUES: dict[str, Rule] = {
    "mpmd.use_set": _MESHES,
    "mpmd.src_set": _MESHES,
    "mhlo.memory_kind": (_is_string, "a string"),
    "mhlo.layout_mode": (_is_string, "a string"),
    ALIASING_OUTPUT: (_is_counter, "the number of a result"),
    BUFFER_DONOR: (lambda attribute: isinstance(attribute, ir.BoolAttr), "true or false"),
}


def _check_attributes(op: ir.Operation) -> None:
    _check_rules(op, op.attributes, _ANYWHERE, "")
    if op.name in (REGION, CALL):
        _check_rules(op, op.attributes, _ON_FRAGMENTS, "")
    elif op.name == "func.func":
        _check_rules(op, op.attributes, _ON_FUNCTIONS, "")
    if op.name in _WITH_SIDES:
        for name, count in _sides(op):
            for number, each in enumerate(_dictionaries(op, name, count)):
                _check_rules(op, each, _ON_VALUES, f" of {name}[{number}]")


def _check_rules(
    op: ir.Operation, attributes: ir.OpAttributeMap | ir.DictAttr, rules: dict[str, Rule], of: str
) -> None:
    for name, (is_right, expected) in rules.items():
        if name in attributes and not is_right(attributes[name]):
            raise PassFailure(op, f"'{name}'{of} must be {expected}, got {attributes[name]}")


# --- functions ----------------------------------------------------------------------------------


def _check_functions(module: ir.Operation, operations: list[ir.Operation]) -> None:
    functions = {
        symbol_name(op.operation): op.operation
        for op in module.regions[0].blocks[0].operations
        if op.operation.name == "func.func"
    }
    for func in filter(is_mpmd_function, functions.values()):
        _check_topology(func)
        _check_blocks(func)
    for op in operations:
        if op.name in _CALLS:
            callee = functions.get(callee_name(op))
            if callee is not None:
                if not len(callee.regions[0].blocks):
                    raise PassFailure(op, f"calls @{symbol_name(callee)}, which has no body")
                _check_blocks(callee)
    _check_recursion(functions)


def _check_topology(func: ir.Operation) -> None:
    if not topology_of(func):
        raise PassFailure(func, "the topology has no meshes")
    text = str(func.attributes["topology"])
    if len(topology_of(func)) != text.count("<["):
        raise PassFailure(func, f"the topology has two meshes with one name: {text}")


def _check_blocks(func: ir.Operation) -> None:
    blocks = len(func.regions[0].blocks)
    if blocks > 1:
        name = symbol_name(func)
        raise PassFailure(func, f"@{name} has {blocks} blocks; MPMD functions have no branches")


def _check_recursion(functions: dict[str, ir.Operation]) -> None:
    calls = {name: _calls(func) for name, func in functions.items()}
    finished: set[str] = set()
    for start in calls:
        path = {start: iter(calls[start])}
        while path:
            name = next(reversed(path))
            call = next(path[name], None)
            if call is None:
                finished.add(name)
                del path[name]
                continue
            callee = callee_name(call)
            if callee in path:
                around = [*path][[*path].index(callee) :]
                cycle = " -> ".join(f"@{each}" for each in [*around, callee])
                raise PassFailure(call, f"mpmd.call is recursive: {cycle}")
            if callee in calls and callee not in finished:
                path[callee] = iter(calls[callee])


def _calls(func: ir.Operation) -> list[ir.Operation]:
    """Returns the first call of each function that `func` calls."""
    found: dict[str, ir.Operation] = {}

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name in _CALLS:
            found.setdefault(callee_name(op.operation), op.operation)
        return ir.WalkResult.ADVANCE

    func.walk(visit)
    return list(found.values())
