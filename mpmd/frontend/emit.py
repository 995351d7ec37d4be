"""Lowers an expanded function to StableHLO with operations of the mpmd dialect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from jax.extend.core import primitives
from jax.extend.mlir import ir
from jax.interpreters import mlir

from mpmd.frontend import _jax, marks
from mpmd.frontend._jax import func, mpmd
from mpmd.frontend.contents import transpose_count
from mpmd.frontend.names import LabelName, SharedCall
from mpmd.frontend.ports import Ports, connect


class _Callee(NamedTuple):
    """The function that a shared body became, and the body, whose identity is the key."""

    body: Any
    symbol: str
    types: list[ir.Type]
    ports: Ports


class Emitter:
    """The lowering rules of one module."""

    def __init__(self) -> None:
        """Starts a module."""
        self._callees: dict[int, _Callee] = {}
        self._depth = 0  # labels around the current insertion point

    def rules(self) -> tuple[tuple[Any, Any], ...]:
        """The rules, for `_jax.lower_module`."""
        return (
            (primitives.jit_p, self._jit),
            (primitives.closed_call_p, self._inline),
            (primitives.call_p, self._inline),
            (marks.named_tensor_p, self._mark(mpmd.NamedTensorOp)),
            (marks.broadcast_p, self._mark(mpmd.BroadcastOp)),
            (marks.reduce_p, self._mark(mpmd.ReduceOp)),
            (marks.for_p, self._for),
        )

    def _jit(self, ctx: Any, *args: ir.Value, name: str, jaxpr: Any, **_: Any) -> Sequence[Any]:
        if isinstance(name, LabelName) and self._is_visible():
            return self._named_computation(ctx, args, name, jaxpr)
        if isinstance(name, SharedCall):
            return self._call(ctx, args, name, jaxpr)
        return _lower(ctx, args, jaxpr, f"jit({name})")

    def _inline(self, ctx: Any, *args: ir.Value, call_jaxpr: Any, **_: Any) -> Sequence[Any]:
        return _lower(ctx, args, call_jaxpr)

    def _mark(self, make: Any) -> Any:
        def rule(ctx: Any, x: ir.Value, **params: Any) -> Sequence[ir.Value]:
            if not self._is_visible():
                return [x]
            _load(ctx)
            attributes = {key: ir.StringAttr.get(value) for key, value in params.items()}
            operands = [x] if make is mpmd.ReduceOp else x
            return [make(operands, **attributes).result]

        return rule

    def _is_visible(self) -> bool:
        """Whether passes would find an operation here: they do not look into loops in a label."""
        owner = ir.InsertionPoint.current.block.owner.operation.name
        return not self._depth or owner == "mpmd.named_computation"

    def _named_computation(
        self, ctx: Any, args: Sequence[ir.Value], name: LabelName, body: Any
    ) -> Sequence[ir.Value]:
        _load(ctx)
        origin = mpmd.UserOriginAttr.get(name, transpose_count(name, body))
        scratch = ir.Operation.create(
            "mpmd.named_computation", regions=1, attributes={"origin": origin}, ip=False
        )
        block = scratch.regions[0].blocks.append(*(arg.type for arg in args))
        self._depth += 1
        with ir.InsertionPoint(block):
            values = _lower(ctx, block.arguments, body, name)
            ports = connect(block, values)
            mpmd.return_([values[i] for i in ports.returned])
        self._depth -= 1
        types = [values[i].type for i in ports.returned]
        op = mpmd.NamedComputationOp(types, [args[i] for i in ports.operands], origin).operation
        block.append_to(op.regions[0])
        if name.call_counter is not None:
            op.attributes["call_counter"] = _ui32(name.call_counter)
        return ports.of(args, op.results)

    def _call(
        self, ctx: Any, args: Sequence[ir.Value], name: SharedCall, body: Any
    ) -> Sequence[ir.Value]:
        _load(ctx)
        if id(body) not in self._callees:
            self._callees[id(body)] = self._callee(ctx, args, name, body)
        callee = self._callees[id(body)]
        operands = [args[i] for i in callee.ports.operands]
        op = mpmd.CallOp(callee.types, operands, callee.symbol).operation
        if name.call_counter is not None:
            op.attributes["call_counter"] = _ui32(name.call_counter)
        return callee.ports.of(args, op.results)

    def _for(
        self, ctx: Any, *args: ir.Value, body: Any, length: int, num_consts: int
    ) -> Sequence[ir.Value]:
        """A loop over one call; what the body only reads is carried, as the region sees no more."""
        _load(ctx)
        types = [arg.type for arg in args]
        op = mpmd.ForOp(types, list(args), length, unroll_factor=length).operation
        index = ir.RankedTensorType.get([], ir.IntegerType.get_unsigned(32))
        block = op.regions[0].blocks.append(*types, index)
        with ir.InsertionPoint(block):
            arguments = list(block.arguments)
            carry = self._call(ctx, arguments, SharedCall("microbatch"), body)
            mpmd.return_([*arguments[:num_consts], *carry])
        return list(op.results)[num_consts:]

    def _callee(self, ctx: Any, args: Sequence[ir.Value], name: SharedCall, body: Any) -> _Callee:
        scratch = func.FuncOp(name, ([arg.type for arg in args], []), ip=False)
        block = scratch.add_entry_block()
        with ir.InsertionPoint(block):
            values = _lower(ctx, block.arguments, body, name)
            ports = connect(block, values)
            func.return_([values[i] for i in ports.returned])
        types = [values[i].type for i in ports.returned]
        module = ctx.module_context
        function = func.FuncOp(
            name, ([arg.type for arg in block.arguments], types), visibility="private", ip=module.ip
        )
        block.append_to(function.operation.regions[0])
        module.symbol_table.insert(function)
        return _Callee(body, function.name.value, types, ports)


def _lower(ctx: Any, args: Sequence[ir.Value], body: Any, scope: str = "") -> Sequence[Any]:
    """Lowers a body at the insertion point, and its constants: regions of labels see no others."""
    jaxpr, consts = _jax.jaxpr_of(body)
    constants = [
        mlir.ir_constant(const, aval=var.aval)
        for const, var in zip(consts, jaxpr.constvars, strict=True)
    ]
    results, _ = mlir.jaxpr_subcomp(
        ctx.module_context,
        jaxpr,
        ctx.name_stack.extend(scope) if scope else ctx.name_stack,
        ctx.tokens_in,
        constants,
        *args,
        dim_var_values=ctx.dim_var_values,
        const_lowering={},
        outer_traceback=ctx.traceback,
    )
    return results


def _load(ctx: Any) -> None:
    mpmd.register_dialect(ctx.module_context.context)


def _ui32(value: int) -> ir.IntegerAttr:
    return ir.IntegerAttr.get(ir.IntegerType.get_unsigned(32), value)
