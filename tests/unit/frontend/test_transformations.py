"""A label is an identity under every transformation, and its gradients count transpositions."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import mpmd
from tests.unit.frontend.labelled import assert_same, labels, run_expanded, text_of

X = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
W = np.linspace(-1, 2, 12, dtype=np.float32).reshape(3, 4)
V = np.linspace(-2, 1, 8, dtype=np.float32).reshape(4, 2)


def named(fn, name):
    return mpmd.named_computation(fn, name=name)


def bare(fn, name):
    return fn


def two_layers(label, first=lambda x, w: jnp.tanh(x @ w)):
    """A loss of two layers, each of them a label."""

    def loss(w, v, x):
        h = label(first, "a")(x, w)
        return jnp.sum(label(lambda h, v: jnp.sin(h @ v), "b")(h, v) ** 2)

    return loss


def checkpoint_around(label):
    return jax.checkpoint(two_layers(label))


def checkpoint_around_one(label):
    def loss(w, v, x):
        h = jax.checkpoint(label(lambda x, w: jnp.tanh(jnp.sin(x @ w)), "a"))(x, w)
        return jnp.sum(label(lambda h, v: h @ v, "b")(h, v) ** 2)

    return loss


def checkpoint_with_policy(label):
    return jax.checkpoint(two_layers(label), policy=jax.checkpoint_policies.dots_saveable)


def checkpoint_inside(label):
    return two_layers(label, jax.checkpoint(lambda x, w: jnp.tanh(jnp.sin(x @ w))))


def scan_inside(label):
    def first(x, w):
        return lax.scan(lambda c, s: (jnp.tanh(c * s), c), x @ w, jnp.arange(3.0))[0]

    return two_layers(label, first)


def while_inside(label):
    def first(x, w):
        n = lax.while_loop(lambda i: i < 5, lambda i: i + 2, 0)
        return jnp.tanh(x @ w) * n

    return two_layers(label, first)


def cond_inside(label):
    def first(x, w):
        return lax.cond(x[0, 0] > 0, lambda y: jnp.sin(y), lambda y: jnp.cos(y), x @ w)

    return two_layers(label, first)


def jit_inside(label):
    return two_layers(label, jax.jit(lambda x, w: jnp.tanh(x @ w)))


def jit_around(label):
    return jax.jit(two_layers(label))


def label_inside_label(label):
    return two_layers(label, lambda x, w: label(lambda y: jnp.tanh(y), "a")(x @ w))


@jax.custom_vjp
def clipped(y):
    return jnp.minimum(y, 0.5)


clipped.defvjp(lambda y: (clipped(y), y), lambda y, ct: (ct * (y < 0.5) * 2,))


@jax.custom_jvp
def doubled(y):
    return y * y


@doubled.defjvp
def _(primals, tangents):
    return doubled(primals[0]), 3 * primals[0] * tangents[0]


def custom_vjp_inside(label):
    return two_layers(label, lambda x, w: clipped(x @ w))


def custom_jvp_inside(label):
    return two_layers(label, lambda x, w: doubled(x @ w))


def custom_vjp_around(label):
    @jax.custom_vjp
    def layer(x, w):
        return label(lambda x, w: jnp.tanh(x @ w), "a")(x, w)

    layer.defvjp(lambda x, w: (layer(x, w), (x, w)), lambda res, ct: (ct @ res[1].T, res[0].T @ ct))

    def loss(w, v, x):
        return jnp.sum(label(lambda h, v: h @ v, "b")(layer(x, w), v) ** 2)

    return loss


def closure(label):
    """The second label closes over a traced value and a constant."""
    scale = jnp.arange(2.0) + 1

    def loss(w, v, x):
        h = label(lambda x: jnp.tanh(x @ w), "a")(x)
        return jnp.sum(label(lambda h: h @ v * scale, "b")(h) ** 2)

    return loss


def one_label_twice(label):
    def loss(w, v, x):
        layer = label(lambda x, w: jnp.tanh(x @ w), "a")
        return jnp.sum(layer(layer(x, w), v) ** 2)

    return loss


def integers_and_none(label):
    def loss(w, v, x):
        def first(args, *, scale):
            assert args["nothing"] is None
            return (
                jnp.tanh(args["x"] @ w) * args["count"] * scale,
                args["mask"],
                None,
                args["count"] + 1,
            )

        h, mask, nothing, count = label(first, "a")(
            {"x": x, "count": jnp.int32(3), "mask": x[:, :1] > 0, "nothing": None}, scale=2.0
        )
        assert nothing is None
        return jnp.sum(label(lambda h: jnp.where(mask, h @ v, count), "b")(h) ** 2)

    return loss


def unused_outputs(label):
    def loss(w, v, x):
        h, _ = label(lambda x, w: (jnp.tanh(x @ w), x), "a")(x, w)
        same, y, _ = label(lambda h, v: (h, h @ v, jnp.sum(h)), "b")(h, v)
        return jnp.sum(y**2) + jnp.sum(same)

    return loss


def stopped_gradient(label):
    def loss(w, v, x):
        h = lax.stop_gradient(label(lambda x, w: jnp.tanh(x @ w), "a")(x, w))
        return jnp.sum(label(lambda h, v: h @ v, "b")(h, v) ** 2) + jnp.sum(w)

    return loss


def marks(label):
    def loss(w, v, x):
        mark = (lambda f, *args: f(*args)) if label is named else (lambda f, x, *_: x)
        x = mark(mpmd.broadcast, x)
        h = mark(mpmd.named_tensor, label(lambda x, w: jnp.tanh(x @ w), "a")(x, w), "t")
        return mark(mpmd.reduce, jnp.sum(label(lambda h, v: h @ v, "b")(h, v) ** 2))

    return loss


def vmapped(label):
    return lambda w, v, x: jnp.sum(jax.vmap(two_layers(label), (None, None, 0))(w, v, x[:, None]))


PROGRAMS = [
    two_layers,
    checkpoint_around,
    checkpoint_around_one,
    checkpoint_with_policy,
    checkpoint_inside,
    scan_inside,
    while_inside,
    cond_inside,
    jit_inside,
    jit_around,
    label_inside_label,
    custom_vjp_inside,
    custom_jvp_inside,
    custom_vjp_around,
    closure,
    one_label_twice,
    integers_and_none,
    unused_outputs,
    stopped_gradient,
    marks,
    vmapped,
]
by_program = pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)


def gradient(f):
    return jax.value_and_grad(f, argnums=(0, 1))


@by_program
def test_value_and_gradient(program):
    labelled, plain = gradient(program(named)), gradient(program(bare))
    want = jax.jit(plain)(W, V, X)
    assert_same(jax.jit(labelled)(W, V, X), want)
    assert_same(run_expanded(labelled, W, V, X), want)
    found = labels(text_of(labelled, W, V, X))
    assert ("a", 0) in found and {count for _, count in found} == {0, 1}


HAVE_JVP = [p for p in PROGRAMS if p not in (custom_vjp_inside, custom_vjp_around)]


@pytest.mark.parametrize("program", HAVE_JVP, ids=lambda p: p.__name__)
def test_jvp(program):
    def tangents(label):
        return lambda w, v, x: jax.jvp(lambda w, v: program(label)(w, v, x), (w, v), (w, v))

    assert_same(run_expanded(tangents(named), W, V, X), jax.jit(tangents(bare))(W, V, X))
    assert {count for _, count in labels(text_of(tangents(named), W, V, X))} == {0}


@pytest.mark.parametrize("program", [two_layers, closure, scan_inside, checkpoint_around_one])
def test_second_order(program):
    def product(label):
        def directional(w, v, x):
            gw, gv = jax.grad(program(label), argnums=(0, 1))(w, v, x)
            return jnp.sum(gw * jnp.cos(w)) + jnp.sum(gv * gv)

        return jax.grad(directional, argnums=(0, 1))

    assert_same(run_expanded(product(named), W, V, X), jax.jit(product(bare))(W, V, X), rtol=1e-4)
    counts = {count for _, count in labels(text_of(product(named), W, V, X))}
    assert counts == {0, 1, 2}


@pytest.mark.parametrize("program", [two_layers, scan_inside, cond_inside, custom_vjp_inside])
def test_vmap_of_gradient(program):
    def mapped(label):
        return jax.vmap(gradient(program(label)), (None, None, 0))

    x = np.stack([X, X + 1, X - 1])
    assert_same(run_expanded(mapped(named), W, V, x), jax.jit(mapped(bare))(W, V, x))
    text = text_of(mapped(named), W, V, x)
    assert set(labels(text)) == {("a", 0), ("b", 0), ("b", 1), ("a", 1)}


def test_gradient_labels_in_order():
    text = text_of(gradient(two_layers(named)), W, V, X)
    assert labels(text) == [("a", 0), ("b", 0), ("b", 1), ("a", 1)]
    assert "func.call" not in text


def test_recomputed_forward_counts_as_backward():
    text = text_of(gradient(checkpoint_around(named)), W, V, X)
    assert labels(text) == [("a", 0), ("b", 0), ("a", 1), ("b", 1), ("b", 1), ("a", 1)]
    assert "optimization_barrier" not in text


def test_checkpoint_without_gradient_recomputes_nothing():
    assert labels(text_of(checkpoint_around(named), W, V, X)) == [("a", 0), ("b", 0)]


def test_label_in_control_flow_inside_a_label_is_inlined():
    def f(x):
        def body(c, _):
            return named(jnp.sin, "a")(c), None

        return named(lambda x: lax.scan(body, x, None, length=3)[0], "a")(x)

    text = text_of(f, X)
    assert labels(text) == [("a", 0)]
    assert_same(run_expanded(f, X), jnp.sin(jnp.sin(jnp.sin(X))))


def test_nested_label_is_nested():
    text = text_of(label_inside_label(named), W, V, X)
    assert labels(text) == [("a", 0), ("a", 0), ("b", 0)]


@pytest.mark.parametrize(
    ("loop", "name"),
    [
        (lambda f, x: lax.while_loop(lambda c: jnp.sum(c) < 9, f, x), "lax.while_loop"),
        (lambda f, x: lax.cond(jnp.sum(x) < 9, f, lambda c: c, x), "lax.cond"),
    ],
)
def test_label_in_dynamic_control_flow_is_refused(loop, name):
    def f(x):
        return loop(lambda c: named(lambda c: c + 1, "stage7")(c), x)

    assert_same(jax.jit(f)(X), jax.jit(lambda x: loop(lambda c: c + 1, x))(X))
    with pytest.raises(mpmd.errors.LabelError, match=f"'stage7' inside a {name}.*test_transf"):
        text_of(f, X)


def test_keys_typed_and_raw():
    def f(key, raw):
        def draw(key, raw):
            key, sub = jax.random.split(key)
            return key, jax.random.normal(sub, (3,)) + jax.random.normal(raw, (3,))

        return named(draw, "a")(key, raw)

    key, raw = jax.random.key(1), jax.random.PRNGKey(2)
    assert_same(run_expanded(f, key, raw), f(key, raw))
    assert labels(text_of(f, key, raw)) == [("a", 0)]


def test_bfloat16():
    w, v, x = (a.astype(jnp.bfloat16) for a in (W, V, X))
    got = run_expanded(gradient(two_layers(named)), w, v, x)
    assert_same(got, jax.jit(gradient(two_layers(bare)))(w, v, x), rtol=2e-2)


def test_static_arguments_of_a_label():
    @functools.partial(mpmd.named_computation, name="a", static_argnames=("power", "shift"))
    def layer(x, power, *, shift):
        return x**power + (1 if shift == "up" else -1)

    assert_same(layer(X, 2, shift="up"), jnp.asarray(X) ** 2 + 1)
    assert_same(jax.jit(lambda x: layer(x, power=3, shift="down"))(X), jnp.asarray(X) ** 3 - 1)


def test_identities_without_mpmd_jit():
    loss = two_layers(named)
    want = two_layers(bare)(W, V, X)
    assert_same(loss(W, V, X), want)
    assert jax.eval_shape(loss, W, V, X).shape == ()
    assert_same(jax.grad(loss)(W, V, X), jax.grad(two_layers(bare))(W, V, X))
    hlo = jax.jit(gradient(loss)).lower(W, V, X).compile().as_text()
    assert "jvp(jit(a))/tanh" in hlo and "transpose(jvp(jit(b)))/" in hlo


def test_residuals_that_are_inputs_are_not_results():
    """The weight is needed by the backward, but the forward does not return it."""
    text = text_of(gradient(two_layers(named, lambda x, w: x @ w)), W, V, X)
    (forward,) = (line for line in text.splitlines() if '<"a"> ' in line)
    assert forward.strip().startswith("%0 = ")


@pytest.mark.parametrize("name", ["main", "mpmd.x", "", 3, None])
def test_bad_names(name):
    with pytest.raises(ValueError, match="label"):
        mpmd.named_computation(lambda x: x, name=name)
    with pytest.raises(ValueError, match="label"):
        mpmd.named_tensor(X, name)


def test_bad_functions_and_counts():
    with pytest.raises(TypeError, match="'a' needs a function"):
        mpmd.named_computation(3, name="a")
    with pytest.raises(ValueError, match="transpose_count"):
        mpmd.named_computation(lambda x: x, name="a", transpose_count=-1)


def test_hand_written_backward():
    @jax.custom_vjp
    def layer(x):
        return named(jnp.sin, "a")(x)

    def backward(x, ct):
        back = mpmd.named_computation(lambda x, ct: jnp.cos(x) * ct, name="a", transpose_count=1)
        return (back(x, ct),)

    layer.defvjp(lambda x: (layer(x), x), backward)
    text = text_of(jax.value_and_grad(lambda x: jnp.sum(layer(x))), X)
    assert labels(text) == [("a", 0), ("a", 1)]
