"""Primitives that are identities to JAX and mean something to the partitioner."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive, jaxpr_as_fun
from jax.interpreters import ad, batching, mlir


def _identity(x: Any, **_: Any) -> Any:
    return x


def _make(name: str) -> Primitive:
    primitive = Primitive(name)
    primitive.def_impl(_identity)
    primitive.def_abstract_eval(_identity)
    batching.defvectorized(primitive)
    mlir.register_lowering(primitive, lambda ctx, x, **_: [x])
    return primitive


named_tensor_p = _make("mpmd_named_tensor")
broadcast_p = _make("mpmd_broadcast")
reduce_p = _make("mpmd_reduce")
for _primitive, _adjoint in (
    (named_tensor_p, named_tensor_p),
    (broadcast_p, reduce_p),
    (reduce_p, broadcast_p),
):
    ad.deflinear2(_primitive, lambda ct, _, p=_adjoint, **params: [p.bind(ct, **params)])


tag_p = _make("mpmd_tag")
"""Counts transpositions: it stands at the floating point inputs and outputs of a label's body."""


def _tag_jvp(primals: tuple, tangents: tuple, *, transpose_count: int) -> tuple[Any, Any]:
    """Tags the tangent, and leaves the primal of a forward body bare.

    A label without tags is forward, so nothing is lost, and JAX still sees that a saved residual is
    merely an input.
    """
    (x,), (tangent,) = primals, tangents
    if transpose_count:
        x = tag_p.bind(x, transpose_count=transpose_count)
    if not isinstance(tangent, ad.Zero):
        tangent = tag_p.bind(tangent, transpose_count=transpose_count)
    return x, tangent


def _tag_transpose(cotangent: Any, x: Any, *, transpose_count: int) -> list[Any]:
    if isinstance(cotangent, ad.Zero):
        return [cotangent]
    return [tag_p.bind(cotangent, transpose_count=transpose_count + 1)]


ad.primitive_jvps[tag_p] = _tag_jvp
ad.primitive_transposes[tag_p] = _tag_transpose


def tag(tree: Any) -> Any:
    """Tags the floating point arrays of a tree; the rest has no gradient and needs none."""
    return jax.tree.map(_tag_leaf, tree)


def _tag_leaf(x: Any) -> Any:
    if isinstance(x, jax.Array) and jnp.issubdtype(x.dtype, jnp.inexact):
        return tag_p.bind(x, transpose_count=0)
    return x


def transpose_count(jaxpr: Any) -> int:
    """How often the body has been transposed, by the tags in it."""
    counts = [e.params["transpose_count"] for e in jaxpr.eqns if e.primitive is tag_p]
    return max(counts, default=0)


for_p = Primitive("mpmd_for")
"""A loop of calls of one body, ``carry = body(*consts, *carry, i)``.

It is made when a function is expanded, after all transformations.
"""
for_p.multiple_results = True


@for_p.def_abstract_eval
def _for_types(*_: Any, body: Any, length: int, num_consts: int) -> list[Any]:
    del length, num_consts
    return list(body.out_avals)


def _unrolled(*values: Any, body: Any, length: int, num_consts: int) -> list[Any]:
    consts, carry = values[:num_consts], list(values[num_consts:])
    for i in range(length):
        carry = jaxpr_as_fun(body)(*consts, *carry, jnp.uint32(i))
    return carry


for_p.def_impl(_unrolled)
mlir.register_lowering(for_p, mlir.lower_fun(_unrolled, multiple_results=True))
