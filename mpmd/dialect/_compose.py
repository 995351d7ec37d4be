"""The primitives that rewrite fragments of either form: `compose`, `prune` and `edit`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence

from mpmd.dialect._bodies import Bodies
from mpmd.dialect._jaxlib import inline_call, ir
from mpmd.dialect._view import CALL, REGION, Fragment
from mpmd.dialect.attributes import Origin, i64, origins_attribute, read_mesh_tensor
from mpmd.dialect.functions import callee_name, entry_block, terminator, update_function_type
from mpmd.dialect.purity import is_pure

ARGUMENT = -1
"""In a wiring: not a result of a part but an operand of the composed fragment."""

Wire = tuple[int, int]
"""(part, result number), or (ARGUMENT, operand number)."""


def compose(
    bodies: Bodies,
    parts: Sequence[Fragment],
    operands: Sequence[ir.Value],
    wiring: Sequence[Sequence[Wire]],
    outputs: Sequence[Wire],
    *,
    mesh: str,
    origins: Sequence[Origin],
    stage: int | None = None,
    attributes: Mapping[str, ir.Attribute] | None = None,
    ip: ir.InsertionPoint,
    name: str | None = None,
    loc: ir.Location | None = None,
    keep_dead: bool = False,
) -> Fragment:
    """Creates the fragment that runs the bodies of `parts` in order, wired together.

    `wiring[p][i]` says where operand i of part p comes from, `outputs` what the new fragment
    returns. This one function merges fragments, drops and duplicates operands and results, and
    inlines one fragment into another. What the outputs do not need is left out of the body unless
    `keep_dead` is set.

    Regions are *moved*, so the caller must replace the results of `parts` and erase them (fragment
    calls stay usable, their functions are shared). When all parts are calls the result is a call,
    and its function is made once per distinct (functions, wiring). `name` names that function;
    `loc` defaults to the locations of all parts, fused.
    """
    result_types = [
        operands[index].type if part == ARGUMENT else parts[part].op.results[index].type
        for part, index in outputs
    ]
    inherent = {"mesh_name": ir.StringAttr.get(mesh), "origin": origins_attribute(origins)}
    if stage is not None:
        inherent["stage_id"] = i64(stage)
    as_call = bool(parts) and all(part.is_call for part in parts)
    if as_call:
        function = _composed_function(bodies, parts, operands, wiring, outputs, name, keep_dead)
        inherent["callee"] = ir.FlatSymbolRefAttr.get(function)
    op = ir.Operation.create(
        CALL if as_call else REGION,
        results=result_types,
        operands=list(operands),
        attributes={**(attributes or {}), **inherent},
        regions=0 if as_call else 1,
        ip=ip,
        loc=loc or fused_location(parts),
    )
    if not as_call:
        inputs = [local_type(operand) for operand in operands]
        unknown = ir.Location.unknown()
        block = op.regions[0].blocks.append(*inputs, arg_locs=[unknown] * len(inputs))
        _fill(bodies, block, parts, wiring, outputs, "mpmd.return", keep_dead)
    return Fragment(op)


def prune(
    bodies: Bodies, fragment: Fragment, keep: Sequence[bool], ip: ir.InsertionPoint
) -> tuple[Fragment, list[int]] | None:
    """Creates `fragment` without the results that `keep` rejects and the operands nothing needs.

    Returns it with the numbers of the operands that it takes; None where there is nothing to
    prune, except that dead operations have gone from the body. The caller replaces the results.
    """
    if fragment.is_call:
        callee = callee_name(fragment.op)
        function, taken = _pruned_function(bodies, callee, tuple(keep))
        if function == callee:
            return None
        attributes = {"callee": ir.FlatSymbolRefAttr.get(function)}
    else:
        taken = _prune_block(fragment.body(bodies), keep)
        if len(taken) == len(fragment.op.operands) and all(keep):
            return None
        attributes = {}
    old, operands = fragment.op, fragment.operands
    new = ir.Operation.create(
        old.name,
        results=[result.type for result, kept in zip(old.results, keep, strict=True) if kept],
        operands=[operands[number] for number in taken],
        attributes={**dict(old.attributes.items()), **attributes},
        regions=0 if fragment.is_call else 1,
        ip=ip,
        loc=old.location,
    )
    if not fragment.is_call:
        fragment.body(bodies).append_to(new.regions[0])
    return Fragment(new), taken


def edit(
    bodies: Bodies,
    fragment: Fragment,
    change: Callable[[ir.Block], None],
    key: Hashable,
    *,
    operands: Sequence[ir.Value] | None = None,
    results: Sequence[ir.Type] | None = None,
    kept: Sequence[int] | None = None,
) -> Fragment:
    """Replaces `fragment` by one whose body `change` has edited in place; returns it.

    `change` may add arguments and returned values at the end, for the additional `operands` and the
    types of additional `results`, and return only those of the old values that `kept` numbers. Of a
    call it edits a copy of the function, made once per (function, key), so `key` must say what the
    change does.
    """
    old = fragment.op
    remaining = old.results if kept is None else [old.results[number] for number in kept]
    attributes = dict(old.attributes.items())
    if fragment.is_call:
        function = _edited_function(bodies, callee_name(old), change, key)
        attributes["callee"] = ir.FlatSymbolRefAttr.get(function)
    else:
        change(fragment.body(bodies))
        if not operands and not results and kept is None:
            return fragment
    new = ir.Operation.create(
        old.name,
        results=[*(result.type for result in remaining), *(results or [])],
        operands=[*old.operands, *(operands or [])],
        attributes=attributes,
        regions=0 if fragment.is_call else 1,
        ip=ir.InsertionPoint(old),
        loc=old.location,
    )
    if not fragment.is_call:
        fragment.body(bodies).append_to(new.regions[0])
    for result, value in zip(remaining, new.results, strict=False):
        result.replace_all_uses_with(value)
    old.erase()
    return Fragment(new)


def _edited_function(
    bodies: Bodies, name: str, change: Callable[[ir.Block], None], key: Hashable
) -> str:
    memory = ("edit", name, key)
    found: str | None = bodies.recall(memory)
    if found is None:
        found, block = _copied_function(bodies, name)
        change(block)
        update_function_type(bodies.function(found))
        bodies.remember(memory, found)
    return found


def _copied_function(bodies: Bodies, name: str) -> tuple[str, ir.Block]:
    """Returns the name and the block of a new function that does what `name` does."""
    source = bodies.function(name)
    inputs = [argument.type for argument in entry_block(source).arguments]
    new, block = bodies.add_function(name, inputs, _shape(source))
    with ir.InsertionPoint(block):
        results = list(inline_call(source, list(block.arguments)))
    ir.Operation.create("func.return", operands=results, ip=ir.InsertionPoint(block))
    return new, block


def _pruned_function(bodies: Bodies, name: str, keep: tuple[bool, ...]) -> tuple[str, list[int]]:
    """Returns a function without what `keep` rejects, and the arguments of `name` it takes."""
    key = ("prune", name, keep)
    found: tuple[str, list[int]] | None = bodies.recall(key)
    if found is None:
        found = _pruned_copy(bodies, name, keep)
        bodies.remember(key, found)
    return found


def _pruned_copy(bodies: Bodies, name: str, keep: tuple[bool, ...]) -> tuple[str, list[int]]:
    if all(keep):
        block = entry_block(bodies.function(name))
        erase_dead(block)
        if all(map(is_used, block.arguments)):
            return name, list(range(len(block.arguments)))
    new, block = _copied_function(bodies, name)
    taken = _prune_block(block, keep)
    update_function_type(bodies.function(new))
    return new, taken


def set_returned(block: ir.Block, values: Sequence[ir.Value]) -> None:
    """Makes `block` return `values`."""
    last = terminator(block)
    ir.Operation.create(
        last.name, operands=list(values), ip=ir.InsertionPoint(last), loc=last.location
    )
    last.erase()


def _prune_block(block: ir.Block, keep: Sequence[bool]) -> list[int]:
    """Drops returned values, dead operations and unused arguments; returns the arguments kept."""
    if not all(keep):
        returned = terminator(block).operands
        set_returned(block, [value for value, kept in zip(returned, keep, strict=True) if kept])
    erase_dead(block)
    arguments = list(block.arguments)
    taken = [number for number, value in enumerate(arguments) if is_used(value)]
    for number in sorted(set(range(len(arguments))) - set(taken), reverse=True):
        block.erase_argument(number)
    return taken


def fused_location(parts: Sequence[Fragment]) -> ir.Location:
    """Returns the location of something made of `parts`."""
    if not parts:
        return ir.Location.unknown()
    if len(parts) == 1:
        return parts[0].op.location
    return ir.Location.fused([part.op.location for part in parts])


def local_type(value: ir.Value) -> ir.Type:
    """Returns the type that `value` has inside a fragment; a token is the same everywhere."""
    parts = read_mesh_tensor(value.type)
    return value.type if parts is None else parts.tensor


def _shape(function: ir.Operation) -> dict[str, ir.Attribute]:
    attributes = function.attributes
    return {"mesh_shape": attributes["mesh_shape"]} if "mesh_shape" in attributes else {}


def _composed_function(
    bodies: Bodies,
    parts: Sequence[Fragment],
    operands: Sequence[ir.Value],
    wiring: Sequence[Sequence[Wire]],
    outputs: Sequence[Wire],
    name: str | None,
    keep_dead: bool,
) -> str:
    names = tuple(callee_name(part.op) for part in parts)
    key = (names, len(operands), tuple(map(tuple, wiring)), tuple(outputs), keep_dead)
    found = bodies.recall(key)
    if found is not None:
        return str(found)
    inputs = [local_type(operand) for operand in operands]
    shape = _shape(bodies.function(names[0]))
    new, block = bodies.add_function(name or names[-1], inputs, shape)
    _fill(bodies, block, parts, wiring, outputs, "func.return", keep_dead)
    update_function_type(bodies.function(new))
    bodies.remember(key, new)
    return new


def _fill(
    bodies: Bodies,
    block: ir.Block,
    parts: Sequence[Fragment],
    wiring: Sequence[Sequence[Wire]],
    outputs: Sequence[Wire],
    return_name: str,
    keep_dead: bool,
) -> None:
    """Puts the bodies of `parts` into an empty `block`, and a return of the outputs."""
    arguments = list(block.arguments)
    made: list[list[ir.Value]] = []

    def value(wire: Wire) -> ir.Value:
        part, index = wire
        return arguments[index] if part == ARGUMENT else made[part][index]

    for part, wires in zip(parts, wiring, strict=True):
        inputs = [value(wire) for wire in wires]
        if part.is_call:
            callee = bodies.function(callee_name(part.op))
            with ir.InsertionPoint(block):
                made.append(list(inline_call(callee, inputs)))
        else:
            made.append(_move_body(part.body(bodies), inputs, block))
    ir.Operation.create(
        return_name, operands=[value(wire) for wire in outputs], ip=ir.InsertionPoint(block)
    )
    if not keep_dead:
        erase_dead(block)


def _move_body(body: ir.Block, inputs: Sequence[ir.Value], target: ir.Block) -> list[ir.Value]:
    """Moves all but the terminator of `body` to the end of `target`; returns what it returned."""
    for argument, replacement in zip(body.arguments, inputs, strict=True):
        argument.replace_all_uses_with(replacement)
    *ops, last = list(body.operations)
    for op in ops:
        target.append(op)
    returned = list(last.operation.operands)
    # The body is left with a return of values that it no longer defines: make it valid to erase.
    last.operation.erase()
    return returned


def erase_dead(block: ir.Block) -> None:
    """Erases the operations of `block` that are pure and unused, last to first, nested ones too."""
    for op in reversed(list(block.operations)[:-1]):
        operation = op.operation
        if not any(is_used(result) for result in operation.results) and is_pure(operation):
            operation.erase()
            continue
        for region in operation.regions:
            for nested in region.blocks:
                erase_dead(nested)


def is_used(value: ir.Value) -> bool:
    """Tells whether anything uses `value`."""
    return next(iter(value.uses), None) is not None
