"""Labels in saved artifacts: `jax.export` writes each as a composite, which runs anywhere."""

from __future__ import annotations

from typing import Any

from jax.extend.core import primitives
from jax.extend.mlir import ir
from jax.interpreters import mlir

from mpmd.frontend import _jax, marks
from mpmd.frontend._jax import func, stablehlo
from mpmd.frontend.composites import BROADCAST, CALL, LABEL, REDUCE, TENSOR
from mpmd.frontend.contents import transpose_count
from mpmd.frontend.names import CallName, LabelName


def register() -> None:
    """Makes JAX's lowering for export keep labels; every other lowering stays as it is."""
    plain = _jax.lowering_rule(primitives.jit_p)

    def rule(ctx: Any, *args: Any, name: str, jaxpr: Any, **params: Any) -> Any:
        results = plain(ctx, *args, name=name, jaxpr=jaxpr, **params)
        if isinstance(name, (LabelName, CallName)) and _is_export(ctx):
            return _as_composite(results, *_described(name, jaxpr))
        return results

    mlir.register_lowering(primitives.jit_p, rule, cacheable=False)
    for primitive, composite in (
        (marks.named_tensor_p, TENSOR),
        (marks.broadcast_p, BROADCAST),
        (marks.reduce_p, REDUCE),
    ):
        mlir.register_lowering(primitive, _mark_rule(composite))


def _is_export(ctx: Any) -> bool:
    return bool(ctx.module_context.lowering_parameters.for_export)


def _described(name: LabelName | CallName, body: Any) -> tuple[str, dict[str, ir.Attribute]]:
    text = ir.StringAttr.get(str(name))
    if isinstance(name, LabelName):
        return LABEL, {"name": text, "transpose_count": _i32(transpose_count(name, body))}
    counter = {} if name.call_counter is None else {"call_counter": _i32(name.call_counter)}
    return CALL, {"name": text, **counter}


def _as_composite(results: Any, name: str, attributes: dict[str, ir.Attribute]) -> Any:
    """Turns the call that a jit became into a composite made of the called function."""
    flat, tree = mlir.ir_tree_registry.flatten(results)
    if not flat:
        return results
    call = flat[0].owner
    composite = stablehlo.CompositeOp(
        [value.type for value in call.results],
        list(call.operands),
        name,
        ir.FlatSymbolRefAttr(call.attributes["callee"]).value,
        composite_attributes=ir.DictAttr.get(attributes),
    )
    call.erase()
    return tree.unflatten(list(composite.results))


def _mark_rule(composite: str) -> Any:
    def rule(ctx: Any, x: ir.Value, **params: str) -> list[ir.Value]:
        if not _is_export(ctx):
            return [x]
        module = ctx.module_context
        identity = func.FuncOp(composite, ([x.type], [x.type]), visibility="private", ip=module.ip)
        with ir.InsertionPoint(identity.add_entry_block()):
            func.return_([identity.arguments[0]])
        module.symbol_table.insert(identity)
        attributes: dict[str, ir.Attribute] = {
            key: ir.StringAttr.get(value) for key, value in params.items()
        }
        return [
            stablehlo.CompositeOp(
                [x.type],
                [x],
                composite,
                identity.name.value,
                composite_attributes=ir.DictAttr.get(attributes),
            ).result
        ]

    return rule


def _i32(value: int) -> ir.IntegerAttr:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(32), value)
