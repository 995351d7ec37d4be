"""Looks at a labelled function as the partitioner gets it."""

from __future__ import annotations

import re

import jax
import numpy as np
from jax.extend.core import jaxpr_as_fun

from mpmd.frontend import _jax
from mpmd.frontend.expand import expand
from mpmd.frontend.partition import parse
from mpmd.frontend.program import lower

_LABEL = re.compile(r'mpmd\.named_computation<"([^"]*)"(?:\((\d+)\))?>')
_CALL = re.compile(r"mpmd\.call @(\w+)\([^)]*\)(?: \{call_counter = (\d+) : ui32\})?")


def text_of(fn, *args, **options):
    traced, _ = _jax.infer(jax.jit(fn, **options), args, {})
    count = len(traced.arg_names), len(traced.jaxpr.out_avals)
    program = lower(
        traced,
        platform="cpu",
        name="test",
        keep_unused=False,
        in_shardings=[None] * count[0],
        out_shardings=[None] * count[1],
    )
    return str(parse(program.bytecode))


def labels(text):
    """The labels of a module in order, as ("name", transpose count)."""
    return [(name, int(count or 0)) for name, count in _LABEL.findall(text)]


def calls(text):
    """The calls of a module in order, as (callee, counter or None)."""
    return [(callee, None if n == "" else int(n)) for callee, n in _CALL.findall(text)]


def functions(text):
    return re.findall(r"func\.func (?:public|private) @(\w+)", text)


def run_expanded(fn, *args):
    """What the function computes once it is expanded for the partitioner."""
    traced, flat = _jax.infer(jax.jit(fn), args, {})
    out = jax.jit(jaxpr_as_fun(expand(traced.jaxpr)))(*flat)
    return jax.tree.unflatten(traced.out_tree, out)


def assert_same(got, want, rtol=2e-5):
    assert jax.tree.structure(got) == jax.tree.structure(want)
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        if jax.dtypes.issubdtype(b.dtype, jax.dtypes.prng_key):
            a, b = jax.random.key_data(a), jax.random.key_data(b)
        assert a.dtype == b.dtype
        a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
        np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-6)
