"""The private and version-dependent parts of JAX that the frontend needs.

No other file of the frontend touches them. Tried with JAX 0.10, 0.11 and 0.12; what differs between
them is hidden behind the functions here.
"""

from __future__ import annotations

import contextlib
import inspect
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
from jax._src import config, effects, pjit, source_info_util
from jax._src.array import ArrayImpl
from jax._src.core import Jaxpr, trace_state_clean
from jax._src.interpreters import partial_eval
from jax.extend import core
from jax.extend.core import primitives
from jax.extend.mlir.dialects import func as _func
from jax.extend.mlir.dialects import mpmd as _mpmd
from jax.extend.mlir.dialects import stablehlo as _stablehlo
from jax.interpreters import mlir

# The user's line is the one to show, not ours below it.
source_info_util.register_exclusion(os.path.dirname(__file__) + os.sep)

# The stubs of the dialects lag behind them.
func: Any = _func
mpmd: Any = _mpmd
stablehlo: Any = _stablehlo

ClosedJaxpr = Any  # jax.extend.core.ClosedJaxpr, which JAX 0.12 merged into Jaxpr.

_INLINED = {  # Primitives that only wrap a jaxpr, and the parameter that holds it.
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "checkpoint": "jaxpr",
    "remat": "jaxpr",
    "remat2": "jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "custom_vjp_call_jaxpr": "call_jaxpr",
    "closed_call": "call_jaxpr",
    "core_closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "call": "call_jaxpr",
    "eval_jaxpr": "call_jaxpr",
}


def jaxpr_of(jaxpr: Any) -> tuple[Any, Sequence[Any]]:
    """Splits a jaxpr, closed or open, into itself without constants and the constants."""
    if hasattr(jaxpr, "consts"):
        return jaxpr.jaxpr, jaxpr.consts
    return jaxpr, ()


def inlinable_body(eqn: Any) -> Any | None:
    """The jaxpr that the equation merely wraps (jit, checkpoint, custom_vjp, ...), or None."""
    param = _INLINED.get(eqn.primitive.name)
    return None if param is None else eqn.params[param]


def is_rematerialization(eqn: Any) -> bool:
    """Whether the equation is the backward of a jax.checkpoint, which recomputes the forward."""
    return bool(eqn.params.get("differentiated")) and "policy" in eqn.params


def sub_jaxprs(params: dict[str, Any]) -> Iterator[Any]:
    """All jaxprs among the parameters of an equation."""
    for value in params.values():
        for item in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(item, Jaxpr) or (hasattr(item, "in_avals") and hasattr(item, "jaxpr")):
                yield item


def scan_sizes(params: dict[str, Any]) -> tuple[int, int]:
    """Numbers of constants and of carried values of a scan."""
    if "ft_in" in params:  # JAX 0.12
        consts, carry, _ = params["ft_in"].unpack()
        return len(consts), len(carry)
    return params["num_consts"], params["num_carry"]


def bind_jit(jitted: Any, name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Calls a jitted function, as one equation of that name; traced once for each signature."""
    traced = jitted.trace(*args, **kwargs)
    flat = [*traced._consts, *jax.tree.leaves((args, kwargs))]
    out = primitives.jit_p.bind(*flat, **{**traced._params, "name": name})
    return jax.tree.unflatten(traced.out_tree, out)


class Traced(NamedTuple):
    """A function traced for one signature."""

    jaxpr: ClosedJaxpr
    in_tree: Any  # of (args, kwargs), without static ones
    out_tree: Any
    donated: tuple[bool, ...]
    arg_names: tuple[str, ...]
    name: str


def infer(jitted: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Traced, list[Any]]:
    """Traces a jitted function, unless it has seen such arguments, and flattens the arguments.

    The meshes that arguments are on do not become part of their types, as they do in JAX where the
    axes of a mesh are explicit: each argument may be on another mesh.
    """
    given = {}

    def without_mesh(x: Any) -> Any:
        if not isinstance(x, jax.Array) or jax.typeof(x).sharding.mesh.empty:
            return x
        # Typed keys do not have the attribute.
        bare = jax.ShapeDtypeStruct(x.shape, x.dtype, weak_type=getattr(x, "weak_type", False))
        given[id(bare)] = x, bare
        return bare

    bare_args, kwargs = jax.tree.map(without_mesh, (tuple(args), kwargs))
    found, flat = pjit._infer_params(jitted._fun, jitted._jit_info, bare_args, kwargs)
    flat = [given[id(x)][0] if id(x) in given else x for x in flat]
    closed, donated = found.params["jaxpr"], found.params["donated_invars"]
    if found.consts:
        raise ValueError(
            "the function uses values of a trace around mpmd.jit; pass them as arguments instead"
        )
    names = tuple(name or f"argument {i}" for i, name in enumerate(found.arg_names))
    traced = Traced(
        closed, found.in_tree, found.out_tree, tuple(donated), names, found.params["name"]
    )
    return traced, flat


def is_tracing() -> bool:
    """Whether any transformation is under way, rather than plain eager execution."""
    return not trace_state_clean()


def trace_context() -> Any:
    """The settings of JAX that tracing depends on."""
    return config.trace_context()


def check_effects(closed: ClosedJaxpr) -> None:
    """Refuses what must happen in one order, as several meshes run at once."""
    ordered = [effect for effect in closed.effects if effects.ordered_effects.contains(effect)]
    if ordered:
        raise ValueError(
            f"mpmd.jit cannot keep the order of {ordered[0]}: use callbacks with ordered=False"
        )


def trace(fn: Callable, avals: Sequence[Any]) -> ClosedJaxpr:
    """The jaxpr of a function of flat arguments and a flat list of results."""
    return jax.make_jaxpr(fn)(*avals)


class SharedBody:
    """A jaxpr that can be called, under various names, without being traced again."""

    def __init__(self, closed: ClosedJaxpr) -> None:
        """Prepares the one equation that all calls are."""
        traced = jax.jit(core.jaxpr_as_fun(closed)).trace(*closed.in_avals)
        self._consts, self._params = list(traced._consts), traced._params

    def __call__(self, name: str, values: Sequence[Any]) -> list[Any]:
        """Calls the body under a name."""
        flat = [*self._consts, *values]
        return list(primitives.jit_p.bind(*flat, **{**self._params, "name": name}))


def rebind(eqn: Any, values: Sequence[Any], **changes: Any) -> list[Any]:
    """Binds the equation's primitive to other values, with its source line, scope and context."""
    params = eqn.primitive.get_bind_params({**eqn.params, **changes})
    if isinstance(params, tuple):  # JAX before 0.10 also returned functions.
        functions, params = params
        values = [*functions, *values]
    with source(eqn), eqn.ctx.manager:
        out = eqn.primitive.bind(*values, **params)
    return list(out) if eqn.primitive.multiple_results else [out]


def source(eqn: Any) -> contextlib.AbstractContextManager[None]:
    """Makes new equations carry the source line and scope of this one."""
    stack = source_info_util.current_name_stack() + eqn.source_info.name_stack
    return source_info_util.user_context(eqn.source_info.traceback, name_stack=stack)


def where(eqn: Any) -> str:
    """The user's source line of the equation."""
    return source_info_util.summarize(eqn.source_info)


def eliminate_dead_code(
    closed: ClosedJaxpr, *, keep_unused: bool
) -> tuple[ClosedJaxpr, list[bool]]:
    """The jaxpr without the equations, label results and inputs that no result needs.

    Returns it and which inputs it has.
    """
    jaxpr, consts = jaxpr_of(closed)
    used = [True] * len(jaxpr.outvars)
    live, used_inputs = partial_eval.dce_jaxpr(jaxpr, used, instantiate=keep_unused)
    return core.ClosedJaxpr(live, consts), used_inputs


def drop_unused(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The jaxpr without equations of which no result is needed.

    Those that stay are left as they are, so a shared body stays shared, also where one call of it,
    the last, has unused results.
    """
    jaxpr, consts = jaxpr_of(closed)
    needed = set(filter(is_variable, jaxpr.outvars))
    kept = []
    for eqn in reversed(jaxpr.eqns):
        if eqn.effects or not needed.isdisjoint(eqn.outvars):
            needed.update(filter(is_variable, eqn.invars))
            kept.append(eqn)
    return core.ClosedJaxpr(jaxpr.replace(eqns=kept[::-1]), consts)


def is_variable(atom: Any) -> bool:
    """Whether an operand is a variable, not a literal."""
    return not hasattr(atom, "val")


class LoweredModule(NamedTuple):
    """The bytecode of a StableHLO module, with source locations, and the functions it calls."""

    bytecode: bytes
    callbacks: tuple[Any, ...]


def lower_module(
    name: str,
    closed: ClosedJaxpr,
    *,
    platform: str,
    overrides: Any,
    arg_shardings: Sequence[Any],
    result_shardings: Sequence[Any],
    arg_names: Sequence[str],
    result_names: Sequence[str],
    donated: Sequence[bool],
) -> LoweredModule:
    """Lowers a jaxpr to a StableHLO module, with our rules for some primitives.

    A donated argument is marked as that and no more: which result can take its memory is known
    only once both have meshes.
    """
    parameters = mlir.LoweringParameters(
        override_lowering_rules=overrides, hoist_constants_as_args=False
    )
    keywords: dict[str, Any] = dict(
        num_const_args=0,
        in_avals=closed.in_avals,
        ordered_effects=[],
        platforms=[platform],
        backend=None,
        axis_context=mlir.ShardingContext(num_devices=1),
        donated_args=[False] * len(closed.in_avals),
        arg_shardings=arg_shardings,
        result_shardings=result_shardings,
        arg_names=arg_names,
        result_names=result_names,
        lowering_parameters=parameters,
    )
    if "out_avals" in inspect.signature(mlir.lower_jaxpr_to_module).parameters:
        keywords["out_avals"] = closed.out_avals
    result = mlir.lower_jaxpr_to_module(name, closed, **keywords)
    _mark_donated(result.module, donated)
    return LoweredModule(mlir.module_to_bytecode(result.module), tuple(result.host_callbacks))


def _mark_donated(module: Any, donated: Sequence[bool]) -> None:
    (main,) = (op for op in module.body if op.attributes["sym_name"].value == "main")
    with module.context:
        attributes = [{each.name: each.attr for each in attrs} for attrs in main.arg_attrs]
        for each, is_donated in zip(attributes, donated, strict=True):
            if is_donated:
                each["jax.buffer_donor"] = mlir.ir.BoolAttr.get(True)
        main.arg_attrs = mlir.ir.ArrayAttr.get([mlir.ir.DictAttr.get(each) for each in attributes])


def key_implementation(dtype: Any) -> str:
    """The generator of a typed random key."""
    return dtype._impl.name


def weakly_typed(array: Any) -> Any:
    """The same array with a type that gives way to others, as Python scalars have it."""
    aval = array.aval.update(weak_type=True)
    return ArrayImpl(aval, array.sharding, array._arrays, committed=True, _skip_checks=True)


def lowering_rule(primitive: Any) -> Callable:
    """JAX's own lowering of a primitive."""
    return mlir._lowerings[primitive].rule
