"""Training steps over microbatches: with calls, loops, scans, and differentiated outside."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

import mpmd

from .dense import stage, weights
from .registry import Program, program
from .sequence import gpt_loss, gpt_params, staged, tokens

SCHEDULES = ("GPipe", "1F1B")  # no schedule is 1F1B, too, where that is possible


def three_stage_params():
    return dict(zip(("s0", "s1", "s2"), weights((8, 8), (8, 8), (8, 4)), strict=True))


def three_stage_loss(w, x, y):
    h = x
    for name in ("s0", "s1", "s2"):
        h = stage(name)(w[name], h)
    return jnp.sum((h - y) ** 2)


def data(microbatches, batch=4):
    x, y = weights((microbatches, batch, 8), (microbatches, batch, 4), seed=5)
    return x, y


def three(fn, microbatches, **options):
    assignment, meshes = staged(3)
    return Program(
        fn,
        (three_stage_params(), *data(microbatches)),
        assignment,
        meshes,
        schedules=SCHEDULES,
        **options,
    )


def by_calls(w, x, y):
    """The usual form: a Python loop of calls, gradients summed."""
    grad = jax.value_and_grad(three_stage_loss)
    total, grads = 0.0, jax.tree.map(jnp.zeros_like, w)
    for i in range(x.shape[0]):
        value, g = mpmd.call(grad, call_counter=i)(w, x[i], y[i])
        total, grads = total + value, jax.tree.map(jnp.add, grads, g)
    return total, jax.tree.map(lambda p, g: p - 0.1 * g, w, grads)


def by_fori_loop(w, x, y):
    def body(i, carry):
        total, grads = carry
        value, g = jax.value_and_grad(three_stage_loss)(w, x[i], y[i])
        return total + value, jax.tree.map(jnp.add, grads, g)

    init = (jnp.zeros(()), jax.tree.map(jnp.zeros_like, w))
    total, grads = mpmd.fori_loop(x.shape[0], body, init)
    return total, jax.tree.map(lambda p, g: p - 0.1 * g, w, grads)


def by_enumerated_for(w, x, y):
    def body(carry, i, xs):
        total, grads = carry
        value, g = jax.value_and_grad(three_stage_loss)(w, *xs)
        return total + value, jax.tree.map(jnp.add, grads, g)

    init = (jnp.zeros(()), jax.tree.map(jnp.zeros_like, w))
    return mpmd.enumerated_for(body, init, (x, y))


def by_scan(w, x, y):
    def body(carry, xs):
        total, grads = carry
        value, g = jax.value_and_grad(three_stage_loss)(w, *xs)
        return (total + value, jax.tree.map(jnp.add, grads, g)), value

    init = (jnp.zeros(()), jax.tree.map(jnp.zeros_like, w))
    (total, grads), values = jax.lax.scan(body, init, (x, y))
    return total, values, jax.tree.map(lambda p, g: p - 0.1 * g, w, grads)


def gradient_outside(w, x, y):
    def loss(w):
        call = mpmd.call(three_stage_loss)
        return sum(call(w, x[i], y[i]) for i in range(x.shape[0]))

    return jax.value_and_grad(loss)(w)


def gradient_outside_a_loop(w, x, y):
    def loss(w):
        return mpmd.fori_loop(
            x.shape[0], lambda i, total: total + three_stage_loss(w, x[i], y[i]), jnp.zeros(())
        )

    return jax.value_and_grad(loss)(w)


for _fn in (
    by_calls,
    by_fori_loop,
    by_enumerated_for,
    by_scan,
    gradient_outside,
    gradient_outside_a_loop,
):
    # One, fewer than stages, more than stages; together under every schedule.
    for _count, _schedules in ((1, ("1F1B",)), (2, (None, "GPipe")), (5, ("GPipe", "1F1B"))):

        def _make(fn=_fn, count=_count, schedules=_schedules):
            return dataclasses.replace(three(fn, count), schedules=schedules)

        _make.__name__ = f"{_fn.__name__}_{_count}_microbatches"
        program(_make)


@program
def calls_with_stages():
    made = three(by_calls, 4)
    return Program(
        made.fn,
        made.args,
        made.assignment,
        made.meshes,
        stages={"s0": 0, "s1": 1, "s2": 2},
        schedules=SCHEDULES,
    )


@program
def nested_loops():
    def fn(w, x, y):
        def inner(j, carry, i):
            value = three_stage_loss(w, x[2 * i + j], y[2 * i + j])
            return carry + value

        def outer(i, carry):
            return mpmd.fori_loop(2, lambda j, c: inner(j, c, i), carry)

        return mpmd.fori_loop(x.shape[0] // 2, outer, jnp.zeros(()))

    return three(fn, 4)


@program
def label_twice_in_a_microbatch():
    def fn(w, x):
        def loss(w, x):
            h = stage("s0")(w["s0"], x)
            h = stage("s1")(w["s1"], h)
            return jnp.sum(stage("s1")(w["s1"], h) ** 2)

        grads = jax.tree.map(jnp.zeros_like, w)
        for i in range(x.shape[0]):
            g = mpmd.call(jax.grad(loss), call_counter=i)(w, x[i])
            grads = jax.tree.map(jnp.add, grads, g)
        return grads

    w = dict(zip(("s0", "s1"), weights((8, 8), (8, 8)), strict=True))
    return Program(fn, (w, data(3)[0]), *staged(2), schedules=SCHEDULES)


@program
def token_weighted_mean():
    def fn(params, toks, mask):
        def weighted(params, toks, mask):
            return gpt_loss(params, toks) * mask.sum(), mask.sum()

        total = weight = 0.0
        grads = jax.tree.map(jnp.zeros_like, params)
        step = mpmd.call(jax.value_and_grad(weighted, has_aux=True))
        for i in range(toks.shape[0]):
            (value, count), g = step(params, toks[i], mask[i])
            total, weight = total + value, weight + count
            grads = jax.tree.map(jnp.add, grads, g)
        return total / weight, jax.tree.map(lambda g: g / weight, grads)

    toks = jnp.stack([tokens(2), tokens(2)[::-1], tokens(2)])
    mask = jnp.asarray(np.random.default_rng(0).integers(0, 2, toks.shape), jnp.float32)
    return Program(fn, (gpt_params(2), toks, mask), *staged(2), schedules=SCHEDULES, rtol=2e-4)


@program
def bf16_gradients_summed_in_f32():
    def fn(w, x):
        def loss(w, x):
            half = jax.tree.map(lambda p: p.astype(jnp.bfloat16), w)
            h = stage("s1")(half["s1"], stage("s0")(half["s0"], x.astype(jnp.bfloat16)))
            return jnp.sum(h.astype(jnp.float32) ** 2)

        grads = jax.tree.map(jnp.zeros_like, w)
        for i in range(x.shape[0]):
            g = mpmd.call(jax.grad(loss), call_counter=i)(w, x[i])
            grads = jax.tree.map(lambda a, b: a + b.astype(jnp.float32), grads, g)
        return grads

    w = dict(zip(("s0", "s1"), weights((8, 8), (8, 8)), strict=True))
    return Program(fn, (w, data(3)[0]), *staged(2), schedules=SCHEDULES, rtol=3e-2)


@program
def auxiliary_loss_from_a_middle_stage():
    def fn(w, x, y):
        def loss(w, x, y):
            h0 = stage("s0")(w["s0"], x)
            h1 = stage("s1")(w["s1"], h0)
            aux = mpmd.named_computation(lambda h: 0.01 * jnp.sum(h**2), name="s1")(h1)
            return jnp.sum((stage("s2")(w["s2"], h1) - y) ** 2) + aux, aux

        grads, auxes = jax.tree.map(jnp.zeros_like, w), []
        for i in range(x.shape[0]):
            (_, aux), g = mpmd.call(jax.value_and_grad(loss, has_aux=True), call_counter=i)(
                w, x[i], y[i]
            )
            grads = jax.tree.map(jnp.add, grads, g)
            auxes.append(aux)
        return grads, jnp.stack(auxes)

    return three(fn, 4)


@program
def by_calls_and_evaluated():
    """What comes after the update is pipelined on its own: it needs the last backward."""

    def fn(w, x, y):
        total, new = by_calls(w, x, y)
        return (
            total,
            new,
            [mpmd.call(three_stage_loss, call_counter=i)(new, x[i], y[i]) for i in (0, 1)],
        )

    return three(fn, 3)


@program
def several_steps():
    """Updates in an outer loop, microbatches in an inner one."""

    def fn(w, x, y):
        def step(i, w):
            def body(j, grads):
                new = jax.grad(three_stage_loss)(w, x[2 * i + j], y[2 * i + j])
                return jax.tree.map(jnp.add, grads, new)

            grads = mpmd.fori_loop(2, body, jax.tree.map(jnp.zeros_like, w))
            return jax.tree.map(lambda p, g: p - 0.01 * g, w, grads)

        return mpmd.fori_loop(2, step, w)

    return three(fn, 4)


@program
def tied_weights_at_both_ends():
    """A microbatch comes back to the mesh of the embedding, under a label of its own."""

    def fn(w, x):
        def loss(w, x):
            h = stage("s1")(w["s1"], stage("s0")(w["s0"], x))
            return jnp.sum(stage("back")(w["s0"].T, h) ** 2)

        grads = jax.tree.map(jnp.zeros_like, w)
        for i in range(x.shape[0]):
            new = mpmd.call(jax.grad(loss), call_counter=i)(w, x[i])
            grads = jax.tree.map(jnp.add, grads, new)
        return grads

    w = dict(zip(("s0", "s1"), weights((8, 8), (8, 8)), strict=True))
    assignment, meshes = staged(2)
    assignment |= {"back": "m0"}
    return Program(fn, (w, data(3)[0]), assignment, meshes, schedules=SCHEDULES)


@program
def loss_over_all_microbatches():
    """Every backward needs every forward: possible, but not as 1F1B."""

    def fn(w, x):
        def loss(w):
            def run(w, x):
                return stage("s1")(w["s1"], stage("s0")(w["s0"], x))

            outs = [mpmd.call(run, call_counter=i)(w, x[i]) for i in range(x.shape[0])]
            h = jnp.concatenate(outs)
            return jax.nn.logsumexp(h @ h.T)

        return jax.value_and_grad(loss)(w)

    w = dict(zip(("s0", "s1"), weights((8, 8), (8, 8)), strict=True))
    return Program(fn, (w, data(3)[0]), *staged(2), schedules=(None, "GPipe"))


@program
def gradients_clipped_by_their_global_norm():
    """Each mesh sends its part of the norm as soon as its last gradient is there."""

    def fn(w, x, y):
        grads = jax.tree.map(jnp.zeros_like, w)
        for i in range(x.shape[0]):
            new = mpmd.call(jax.grad(three_stage_loss), call_counter=i)(w, x[i], y[i])
            grads = jax.tree.map(jnp.add, grads, new)
        norm = jnp.sqrt(sum(jnp.sum(g**2) for g in grads.values()))
        scale = jnp.where(norm < 1, 1.0, 1 / norm)
        return {k: w[k] - 0.1 * scale * grads[k] for k in w}

    return three(fn, 3)
