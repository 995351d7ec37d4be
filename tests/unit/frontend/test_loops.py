"""Microbatches: calls and loops share one body, under grad too, and number their calls."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import mpmd
from tests.unit.frontend.labelled import (
    assert_same,
    calls,
    functions,
    labels,
    run_expanded,
    text_of,
)

N = 4
WS = {
    "a": np.linspace(-1, 2, 12, dtype=np.float32).reshape(3, 4),
    "b": np.linspace(-2, 1, 8, dtype=np.float32).reshape(4, 2),
}
XS = np.linspace(-1, 1, N * 6, dtype=np.float32).reshape(N, 2, 3)


def named(fn, name):
    return mpmd.named_computation(fn, name=name)


def bare(fn, name):
    return fn


def microbatch(label):
    def loss(ws, x):
        h = label(lambda x, w: jnp.tanh(x @ w), "a")(x, ws["a"])
        return jnp.sum(label(lambda h, w: jnp.sin(h @ w), "b")(h, ws["b"]) ** 2)

    return loss


def by_calls(ws, xs):
    loss = microbatch(named)
    return sum(mpmd.call(loss, call_counter=i)(ws, xs[i]) for i in range(N))


def by_fori_loop(ws, xs):
    loss = microbatch(named)
    return mpmd.fori_loop(N, lambda i, total: total + loss(ws, xs[i]), jnp.float32(0))


def by_enumerated_for(ws, xs):
    loss = microbatch(named)
    return mpmd.enumerated_for(lambda total, i, x: total + loss(ws, x), jnp.float32(0), xs)


def by_unrolled_for(ws, xs):
    loss = microbatch(named)
    return mpmd.enumerated_for(lambda total, i, x: total + loss(ws, x), 0.0, xs, unroll=True)


def by_scan(ws, xs):
    return jnp.sum(lax.scan(lambda c, x: (c, microbatch(named)(ws, x)), None, xs)[1])


def by_scan_of_checkpoints(ws, xs):
    loss = jax.checkpoint(microbatch(named))
    return lax.scan(lambda c, x: (c + loss(ws, x), None), jnp.float32(0), xs)[0]


def by_checkpointed_scan(ws, xs):
    return jax.checkpoint(by_scan)(ws, xs)


def by_scan_of_calls(ws, xs):
    loss = mpmd.call(microbatch(named))
    return lax.scan(lambda c, x: (c + loss(ws, x), None), jnp.float32(0), xs)[0]


def expected(ws, xs):
    return sum(microbatch(bare)(ws, xs[i]) for i in range(N))


LOOPS = [
    by_calls,
    by_fori_loop,
    by_enumerated_for,
    by_unrolled_for,
    by_scan,
    by_scan_of_checkpoints,
    by_checkpointed_scan,
    by_scan_of_calls,
]
by_loop = pytest.mark.parametrize("loop", LOOPS, ids=lambda p: p.__name__)


@by_loop
def test_value(loop):
    assert_same(jax.jit(loop)(WS, XS), jax.jit(expected)(WS, XS))
    assert_same(run_expanded(loop, WS, XS), jax.jit(expected)(WS, XS))


@by_loop
def test_gradient_is_calls_of_shared_bodies(loop):
    gradient = jax.value_and_grad(loop)
    want = jax.jit(jax.value_and_grad(expected))(WS, XS)
    assert_same(jax.jit(gradient)(WS, XS), want)
    assert_same(run_expanded(gradient, WS, XS), want)
    text = text_of(gradient, WS, XS)
    forward, backward = calls(text)[:N], calls(text)[-N:]
    assert len(calls(text)) == (3 * N if loop is by_checkpointed_scan else 2 * N)
    assert [counter for _, counter in forward] == list(range(N))
    assert [counter for _, counter in backward] == list(reversed(range(N)))
    assert len({callee for callee, _ in forward}) == len({callee for callee, _ in backward}) == 1
    assert len(functions(text)) == (4 if loop is by_checkpointed_scan else 3)
    assert not re.search(r"stablehlo\.while|func\.call|mpmd\.for", text)
    residuals = re.findall(r"stablehlo.concatenate.*-> tensor<4x\d+x.*", text)
    assert not residuals  # each goes from its forward to its backward, not through a stack


@by_loop
def test_gradient_labels(loop):
    found = labels(text_of(jax.value_and_grad(loop), WS, XS))
    recomputed = [("a", 1), ("b", 1)] if "checkpoint" in loop.__name__ else []
    assert found == [("a", 0), ("b", 0), *recomputed, ("b", 1), ("a", 1)]


def test_second_order():
    def product(loop):
        return jax.grad(lambda ws: jnp.sum(jax.grad(loop)(ws, XS)["a"] ** 2))

    got = run_expanded(product(by_scan), WS)
    assert_same(got, jax.jit(product(expected))(WS), rtol=1e-3)
    assert {count for _, count in labels(text_of(product(by_scan), WS))} == {0, 1, 2}


def test_vmap():
    xs = np.stack([XS, XS + 1], axis=1)

    def mapped(loop):
        return jax.vmap(loop, (None, 1))

    assert_same(run_expanded(mapped(by_fori_loop), WS, xs), jax.jit(mapped(expected))(WS, xs))


def test_fori_loop_is_one_op():
    text = text_of(by_fori_loop, WS, XS)
    assert re.search(r"mpmd\.for .*\{iterations = 4 : ui32, unroll_factor = 4 : ui32\}", text)
    assert len(calls(text)) == 1


def test_many_calls_cost_little():
    """The body is traced once, and lowered once for each direction."""
    traces = []

    def loss(ws, x):
        traces.append(None)
        return microbatch(named)(ws, x)

    def total(ws, xs):
        return sum(mpmd.call(loss, call_counter=i)(ws, xs[i % N]) for i in range(32))

    text = text_of(jax.value_and_grad(total), WS, XS)
    assert len(traces) == 1
    assert len(calls(text)) == 64 and len(functions(text)) == 3


def test_nested_loops_number_their_calls_in_a_row():
    """Two training steps of three microbatches each."""

    def train(label):
        def step(_, ws):
            def body(i, carry):
                g = jax.grad(microbatch(label))(ws, jnp.asarray(XS)[i])
                return jax.tree.map(jnp.add, carry, g)

            g = mpmd.fori_loop(3, body, jax.tree.map(jnp.zeros_like, ws))
            return jax.tree.map(lambda w, g: w - 0.1 * g, ws, g)

        return lambda ws: mpmd.fori_loop(2, step, ws)

    assert_same(run_expanded(train(named), WS), jax.jit(train(bare))(WS))
    text = text_of(train(named), WS)
    assert [counter for _, counter in calls(text)] == list(range(6))
    assert len(functions(text)) == 2


def test_gradient_of_nested_loops():
    def nested(label):
        def loss(ws):
            def inner(i, total):
                return total + microbatch(label)(ws, total * jnp.asarray(XS)[i])

            return mpmd.fori_loop(2, lambda _, t: jnp.sin(mpmd.fori_loop(3, inner, t)), 0.5)

        return jax.grad(loss)

    assert_same(run_expanded(nested(named), WS), jax.jit(nested(bare))(WS))
    text = text_of(nested(named), WS)
    assert [counter for _, counter in calls(text)] == [*range(6), *reversed(range(6))]


def test_label_beside_an_inner_loop_carries_the_counter():
    def f(x):
        def outer(i, x):
            x = named(jnp.sin, "a")(x)
            return mpmd.fori_loop(2, lambda j, x: named(jnp.cos, "b")(x), x)

        return mpmd.fori_loop(2, outer, x)

    text = text_of(f, XS)
    assert re.findall(r'named_computation<"a"> .*', text)[1].count("(") and "call_counter" in text
    assert [counter for _, counter in calls(text)] == [0, 1, 2, 3]


def test_loop_over_several_arrays_and_results():
    def loop(label):
        def body(carry, x):
            y = label(lambda x, c: jnp.sin(x["p"]) * c, "a")(x, carry)
            return carry + jnp.sum(y), {"y": y, "key": jax.random.fold_in(x["key"], 1)}

        def run(xs):
            carry, ys = lax.scan(body, jnp.float32(1), xs, reverse=True)
            return carry, ys, ys["y"][1]

        return run

    xs = {"p": XS[:, 0], "key": jax.random.split(jax.random.key(0), N)}
    assert_same(run_expanded(loop(named), xs), jax.jit(loop(bare))(xs))
    assert [counter for _, counter in calls(text_of(loop(named), xs))] == [3, 2, 1, 0]


@pytest.mark.parametrize("n", [0, 1])
def test_short_loops(n):
    def f(x):
        return mpmd.fori_loop(n, lambda i, x: named(lambda x: x + i + 1, "a")(x), x)

    assert_same(run_expanded(f, XS), jnp.asarray(XS + n))
    assert len(calls(text_of(f, XS))) == n


def test_empty_scan():
    def f(x):
        return lax.scan(lambda c, x: (named(jnp.sin, "a")(c), c + x), 1.0, x[:0])

    assert_same(run_expanded(f, XS[:, 0, 0]), f(XS[:, 0, 0]))


def test_loop_without_labels_stays_a_loop():
    text = text_of(lambda x: mpmd.fori_loop(5, lambda i, x: jnp.sin(x), x), XS)
    assert "stablehlo.while" in text and not calls(text)


def test_calls_with_integers_and_closures():
    def f(ws, tokens):
        scale = jnp.float32(2) * ws["a"][0, 0]

        def body(tokens, mask):
            e = named(lambda t: ws["a"][t] * scale, "a")(tokens)
            return jnp.sum(jnp.where(mask[:, None], e, 0)), tokens + 1

        total, _ = mpmd.call(body)(tokens, tokens > 0)
        return total

    tokens = np.array([0, 2, 1], np.int32)
    got = run_expanded(jax.grad(f), WS, tokens)
    want = jax.grad(lambda ws: jnp.sum(ws["a"][np.array([2, 1])]) * 2 * ws["a"][0, 0])(WS)
    assert_same(got, want)
    assert [counter for _, counter in calls(text_of(f, WS, tokens))] == [None]


def test_eager_call():
    assert_same(
        mpmd.call(microbatch(named), call_counter=3)(WS, XS[0]), microbatch(bare)(WS, XS[0])
    )
    assert_same(by_fori_loop(WS, jnp.asarray(XS)), expected(WS, XS))


@pytest.mark.parametrize("counter", [-1, 1.5, "0", True, 2**32])
def test_bad_counters(counter):
    with pytest.raises(ValueError, match="call_counter"):
        mpmd.call(microbatch(bare), call_counter=counter)


@pytest.mark.parametrize("n", [-1, 2.0, "3", None])
def test_bad_lengths(n):
    with pytest.raises(ValueError, match="number of iterations"):
        mpmd.fori_loop(n, lambda i, c: c, 0)


def test_traced_length_is_refused():
    with pytest.raises(ValueError, match="number of iterations"):
        jax.jit(lambda n: mpmd.fori_loop(n, lambda i, c: c, 0))(3)


def test_bad_arrays_of_enumerated_for():
    with pytest.raises(ValueError, match=r"one first dimension.*\(2,\), \(3,\)"):
        mpmd.enumerated_for(lambda c, i, x: c, 0, (np.ones(2), np.ones(3)))


def test_functions_have_plain_names():
    text = text_of(lambda x: mpmd.call(lambda x: named(jnp.sin, "a")(x))(x), XS)
    assert functions(text) == ["main", "lambda"]
