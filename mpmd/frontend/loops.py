"""Microbatches: one body, traced once, called many times."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from mpmd.frontend import _jax
from mpmd.frontend.names import CallName, check_call_counter


def call(fn: Callable, *, call_counter: int | None = None) -> Callable:
    """Makes each use of a function a call of a shared body, traced and compiled once.

    ``call_counter`` numbers the microbatch for the pipeline schedule. A gradient of a call is again
    a call, of a shared transposed body, with the same number.
    """
    if not callable(fn):
        raise TypeError(f"mpmd.call needs a function, got {fn!r}")
    name = CallName(_symbol(fn), call_counter=check_call_counter(call_counter))
    jitted = jax.jit(fn)

    @functools.wraps(fn, updated=())
    def called(*args: Any, **kwargs: Any) -> Any:
        return _jax.bind_jit(jitted, name, args, kwargs)

    return called


def fori_loop(n: int, body: Callable[[Any, Any], Any], init: Any) -> Any:
    """Runs ``carry = body(i, carry)`` for i in 0..n-1.

    The compiler unrolls it, and the body is traced once. Use it over microbatches. It nests, and
    its gradient is again a loop of calls.
    """
    step = call(body)
    carry, _ = jax.lax.scan(
        lambda carry, i: (step(i, carry), None), init, jax.lax.iota(int, _check_length(n))
    )
    return carry


def enumerated_for(
    body: Callable[[Any, Any, Any], Any], init: Any, xs: Any, *, unroll: bool = False
) -> Any:
    """Runs ``carry = body(carry, i, x)`` for the i-th slices x of the arrays of xs.

    Under `mpmd.jit` the compiler unrolls it, and with ``unroll`` also plain ``jax.jit`` does.
    """
    lengths = {jnp.shape(x)[0] if jnp.ndim(x) else None for x in jax.tree.leaves(xs)}
    if len(lengths) != 1 or None in lengths:
        shapes = [jnp.shape(x) for x in jax.tree.leaves(xs)]
        raise ValueError(f"enumerated_for needs arrays of one first dimension, got shapes {shapes}")
    length = int(lengths.pop() or 0)
    step = call(body)
    carry, _ = jax.lax.scan(
        lambda carry, item: (step(carry, *item), None),
        init,
        (jax.lax.iota(int, length), xs),
        unroll=unroll,
    )
    return carry


def _symbol(fn: Callable) -> str:
    return re.sub(r"\W", "", getattr(fn, "__name__", type(fn).__name__)) or "call"


def _check_length(n: object) -> int:
    try:
        length = n.__index__()  # type: ignore[attr-defined]
    except (AttributeError, TypeError, jax.errors.TracerIntegerConversionError):
        raise ValueError(f"the number of iterations must be a Python integer, got {n!r}") from None
    if length < 0:
        raise ValueError(f"the number of iterations must not be negative, got {length}")
    return length
