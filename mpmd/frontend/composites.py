"""Makes labels of the composites that an export wrote them as."""

from __future__ import annotations

from collections.abc import Iterator

from mpmd.dialect import attributes
from mpmd.dialect._jaxlib import func, inline_call, ir, mpmd, passmanager
from mpmd.dialect.functions import entry_block, functions, symbol_name
from mpmd.errors import LabelError
from mpmd.frontend.partition import entry_point

LABEL, CALL, TENSOR = "mpmd.named_computation", "mpmd.call", "mpmd.named_tensor"
BROADCAST, REDUCE = "mpmd.broadcast", "mpmd.reduce"
MAIN, LOOP, HIDDEN = "main", "loop", "hidden"  # hidden: in control flow inside a label
_NAMES = frozenset((LABEL, CALL, TENSOR, BROADCAST, REDUCE))


def restore_labels(module: ir.Operation) -> None:
    """Turns the composites of an artifact into labels, calls and marks.

    What the partitioner could not see where it stands, say a label in a loop inside a label, is
    inlined. A module without composites stays as it is.
    """
    if not any(True for function in functions(module) for _ in _composites(function)):
        return
    inline = passmanager.PassManager.parse("builtin.module(inline)")
    inline.run(module)  # brings what a loop's body calls into sight
    _call_hidden(module)
    inline.run(module)
    by_name = {symbol_name(function): function for function in functions(module)}
    _restore(entry_block(entry_point(module)), by_name, set())
    passmanager.PassManager.parse("builtin.module(symbol-dce)").run(module)


def _call_hidden(module: ir.Operation) -> None:
    """Makes plain calls of the composites that are to be inlined."""
    by_name = {symbol_name(function): function for function in functions(module)}
    pending: list[tuple[str, str]] = [(symbol_name(entry_point(module)), MAIN)]
    seen = set(pending)
    while pending:
        name, role = pending.pop()
        for op, loop in list(_composites(by_name[name])):
            kind, body = str(_kind(op)), _body_name(op)
            in_loop = role == LOOP or (loop is not None and role in (MAIN, CALL))
            if in_loop and kind != CALL:
                raise LabelError(
                    f"the artifact has {_describe(op)} inside a {loop or 'loop'}: how often it "
                    "runs must be known to place it on a mesh. Use mpmd.jit, or unroll the loop "
                    "before exporting."
                )
            hidden = role == HIDDEN or (loop is not None and role == LABEL)
            if in_loop or hidden or (kind == CALL and role != MAIN):
                _call_instead(op, body)
                inner = body, LOOP if in_loop else HIDDEN if hidden else role
            else:
                inner = body, kind
            if inner not in seen:
                seen.add(inner)
                pending.append(inner)


def _composites(
    op: ir.Operation, loop: str | None = None
) -> Iterator[tuple[ir.Operation, str | None]]:
    """Yields our composites inside an operation, each with the control flow around it."""
    for region in op.regions:
        for block in region.blocks:
            for inner in list(block.operations):
                if _kind(inner.operation) is not None:
                    yield inner.operation, loop
                elif len(inner.operation.regions):
                    yield from _composites(inner.operation, inner.operation.name)


def _kind(op: ir.Operation) -> str | None:
    if op.name != "stablehlo.composite":
        return None
    name = ir.StringAttr(op.attributes["name"]).value
    return name if name in _NAMES else None


def _body_name(op: ir.Operation) -> str:
    return ir.FlatSymbolRefAttr(op.attributes["decomposition"]).value


def _description(op: ir.Operation) -> ir.DictAttr:
    key = "composite_attributes"
    return ir.DictAttr(op.attributes[key]) if key in op.attributes else ir.DictAttr.get({})


def _describe(op: ir.Operation) -> str:
    described = _description(op)
    name = repr(ir.StringAttr(described["name"]).value) if "name" in described else ""
    return f"{_kind(op)} {name}".strip()


def _call_instead(op: ir.Operation, name: str) -> None:
    types = [result.type for result in op.results]
    with ir.InsertionPoint(op), op.location:
        _replace(op, func.CallOp(types, name, list(op.operands)).operation.results)


def _replace(op: ir.Operation, values: ir.OpResultList) -> None:
    for result, value in zip(op.results, values, strict=True):
        result.replace_all_uses_with(value)
    op.erase()


def _restore(block: ir.Block, by_name: dict[str, ir.Operation], callees: set[str]) -> None:
    for view in list(block.operations):
        op = view.operation
        kind = _kind(op)
        if kind is None:
            continue
        with ir.InsertionPoint(op), op.location:
            made = _make(op, kind)
        if kind == LABEL:
            inner = made.regions[0].blocks.append(*(operand.type for operand in op.operands))
            with ir.InsertionPoint(inner), op.location:
                mpmd.return_(inline_call(by_name[_body_name(op)], list(inner.arguments)))
            _restore(inner, by_name, callees)
        elif kind == CALL and _body_name(op) not in callees:
            callees.add(_body_name(op))
            _restore(entry_block(by_name[_body_name(op)]), by_name, callees)
        _replace(op, made.results)


def _make(op: ir.Operation, kind: str) -> ir.Operation:
    described, operands = _description(op), list(op.operands)
    types = [result.type for result in op.results]
    if kind == LABEL:
        count = ir.IntegerAttr(described["transpose_count"]).value
        origin = attributes.Origin(ir.StringAttr(described["name"]).value, count)
        return mpmd.NamedComputationOp(
            types, operands, attributes.origin_attribute(origin)
        ).operation
    if kind == CALL:
        call = mpmd.CallOp(types, operands, _body_name(op)).operation
        if "call_counter" in described:
            counter = ir.IntegerAttr(described["call_counter"]).value
            call.attributes["call_counter"] = attributes.ui32(counter)
        return call
    if kind == TENSOR:
        return mpmd.NamedTensorOp(operands[0], ir.StringAttr(described["name"])).operation
    return (
        mpmd.BroadcastOp(operands[0]) if kind == BROADCAST else mpmd.ReduceOp(operands)
    ).operation
