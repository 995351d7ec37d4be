"""Feed-forward programs: chains, skips, ties, mixtures, several tasks and outputs."""

import jax
import jax.numpy as jnp
import numpy as np

import mpmd

from .registry import Program, program

TWO = {"a": "m0", "b": "m1"}


def weights(*shapes, seed=0):
    rng = np.random.default_rng(seed)
    return [jnp.asarray(rng.normal(size=s) * 0.3, jnp.float32) for s in shapes]


def stage(name):
    return mpmd.named_computation(lambda w, x: jnp.tanh(x @ w), name=name)


@program
def forward_chain():
    def fn(w, x):
        return stage("b")(w[1], stage("a")(w[0], x))

    *w, x = weights((8, 8), (8, 4), (4, 8))
    return Program(fn, (w, x), TWO)


@program
def sgd_step():
    def loss(w, x, y):
        return jnp.mean((stage("b")(w["b"], stage("a")(w["a"], x)) - y) ** 2)

    def fn(w, x, y):
        value, grads = jax.value_and_grad(loss)(w, x, y)
        return value, jax.tree.map(lambda p, g: p - 0.1 * g, w, grads)

    a, b, x, y = weights((8, 8), (8, 4), (4, 8), (4, 4))
    return Program(fn, ({"a": a, "b": b}, x, y), TWO)


@program
def sgd_step_donated():
    made = sgd_step()
    return Program(made.fn, made.args, TWO, jit={"donate_argnums": (0,)})


@program
def tied_embedding():
    def fn(emb, w, tokens):
        def loss(emb, w):
            h = mpmd.named_computation(lambda e, t: e[t], name="a")(emb, tokens)
            h = stage("a")(w, h)
            logits = mpmd.named_computation(lambda h, e: h @ e.T, name="b")(h, emb)
            return -jnp.mean(jax.nn.log_softmax(logits)[:, 1])

        value, (ge, gw) = jax.value_and_grad(loss, (0, 1))(emb, w)
        return value, emb - 0.5 * ge, w - 0.5 * gw

    emb, w = weights((10, 8), (8, 8))
    return Program(fn, (emb, w, jnp.arange(6) % 10), TWO)


@program
def skip_over_a_stage():
    def fn(w, x):
        def loss(w):
            h0 = stage("a")(w[0], x)
            h1 = stage("b")(w[1], h0)
            h2 = mpmd.named_computation(lambda w, h, s: (h + s) @ w, name="c")(w[2], h1, h0)
            return jnp.sum(h2**2)

        return jax.value_and_grad(loss)(w)

    *w, x = weights((8, 8), (8, 8), (8, 8), (4, 8))
    meshes = {m: (("x", 2),) for m in ("m0", "m1", "m2")}
    return Program(fn, (w, x), {"a": "m0", "b": "m1", "c": "m2"}, meshes)


@program
def there_and_back():
    """A-B-A placement."""

    def fn(w, x):
        def loss(w):
            h = stage("a")(w[0], x)
            h = stage("b")(w[1], h)
            return jnp.mean(mpmd.named_computation(lambda w, h: h @ w, name="c")(w[2], h) ** 2)

        return jax.grad(loss)(w)

    *w, x = weights((8, 8), (8, 8), (8, 8), (4, 8))
    return Program(fn, (w, x), {"a": "m0", "b": "m1", "c": "m0"})


@program
def mixture_of_experts():
    def fn(params, x):
        def loss(params):
            gates = mpmd.named_computation(lambda w, x: jax.nn.softmax(x @ w), name="a")(
                params["gate"], x
            )
            e0 = stage("a")(params["e0"], x)
            e1 = stage("b")(params["e1"], x)
            return jnp.mean((gates[:, :1] * e0 + gates[:, 1:] * e1) ** 2)

        return jax.value_and_grad(loss)(params)

    gate, e0, e1, x = weights((8, 2), (8, 8), (8, 8), (4, 8))
    return Program(fn, ({"gate": gate, "e0": e0, "e1": e1}, x), TWO)


@program
def multi_task():
    def fn(w, x, y0, y1):
        def losses(w):
            h = stage("a")(w["trunk"], x)
            return (
                jnp.mean((stage("a")(w["h0"], h) - y0) ** 2),
                jnp.mean((stage("b")(w["h1"], h) - y1) ** 2),
            )

        def total(w):
            l0, l1 = losses(w)
            return l0 + 0.5 * l1, {"l0": l0, "l1": l1}

        (value, aux), grads = jax.value_and_grad(total, has_aux=True)(w)
        return value, aux, grads

    t, h0, h1, x, y0, y1 = weights((8, 8), (8, 4), (8, 4), (4, 8), (4, 4), (4, 4))
    return Program(fn, ({"trunk": t, "h0": h0, "h1": h1}, x, y0, y1), TWO)


@program
def dropout():
    def fn(w, x, key):
        def loss(w):
            k0, k1 = jax.random.split(key)

            def drop(w, x, k):
                return jnp.where(jax.random.bernoulli(k, 0.8, x.shape), jnp.tanh(x @ w), 0.0)

            h = mpmd.named_computation(drop, name="a")(w[0], x, k0)
            return jnp.sum(mpmd.named_computation(drop, name="b")(w[1], h, k1) ** 2)

        return jax.value_and_grad(loss)(w)

    *w, x = weights((8, 8), (8, 8), (4, 8))
    return Program(fn, (w, x, jax.random.key(3)), TWO)


@program
def raw_keys_and_integers():
    def fn(w, tokens, key, flag):
        h = mpmd.named_computation(lambda w, t: w[t], name="a")(w, tokens)
        noise = mpmd.named_computation(
            lambda h, k, f: jnp.where(f, h + jax.random.normal(k, h.shape), h), name="b"
        )(h, key, flag)
        return noise, tokens + 1, ~flag

    (w,) = weights((10, 8))
    return Program(fn, (w, jnp.arange(4), jax.random.PRNGKey(1), jnp.array([True] * 8)), TWO)


@program
def conv_with_batch_statistics():
    def fn(params, state, x):
        def conv(p, s, x):
            y = jax.lax.conv_general_dilated(
                x, p["k"], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
            mean, var = y.mean((0, 1, 2)), y.var((0, 1, 2))
            new = {"mean": 0.9 * s["mean"] + 0.1 * mean, "var": 0.9 * s["var"] + 0.1 * var}
            y = (y - mean) * jax.lax.rsqrt(var + 1e-5) * p["scale"]
            return jax.nn.relu(y), new

        def loss(params):
            h, s0 = mpmd.named_computation(conv, name="a")(params[0], state[0], x)
            h, s1 = mpmd.named_computation(conv, name="b")(params[1], state[1], h)
            return jnp.mean(h**2), [s0, s1]

        (value, new_state), grads = jax.value_and_grad(loss, has_aux=True)(params)
        return value, new_state, grads

    k0, k1, x = weights((3, 3, 2, 4), (3, 3, 4, 4), (2, 6, 6, 2))
    one, zero = jnp.ones(4), jnp.zeros(4)
    params = [{"k": k0, "scale": one}, {"k": k1, "scale": one}]
    state = [{"mean": zero, "var": one}, {"mean": zero, "var": one}]
    return Program(fn, (params, state, x), TWO, rtol=2e-4)


@program
def frozen_stage():
    def fn(frozen, w, x):
        def loss(w):
            h = stage("a")(jax.lax.stop_gradient(frozen), x)
            return jnp.sum(stage("b")(w, h) ** 2)

        return jax.value_and_grad(loss)(w)

    f, w, x = weights((8, 8), (8, 8), (4, 8))
    return Program(fn, (f, w, x), TWO)


@program
def global_norm_clipping():
    def fn(w, x):
        def loss(w):
            return jnp.sum(stage("b")(w[1], stage("a")(w[0], x)) ** 2)

        grads = jax.grad(loss)(w)
        norm = jnp.sqrt(sum(jnp.sum(g**2) for g in jax.tree.leaves(grads)))
        scale = jnp.minimum(1.0, 1.0 / (norm + 1e-6))
        return [p - scale * g for p, g in zip(w, grads, strict=True)], norm

    *w, x = weights((8, 8), (8, 8), (4, 8))
    return Program(fn, (w, x), TWO)


@program
def adam():
    def fn(params, m, v, step, x):
        def loss(w):
            return jnp.sum(stage("b")(w[1], stage("a")(w[0], x)) ** 2)

        value, g = jax.value_and_grad(loss)(params)
        step = step + 1
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, v, g)
        t = step.astype(jnp.float32)
        lr = 0.1 * jnp.sqrt(1 - 0.99**t) / (1 - 0.9**t)
        params = jax.tree.map(lambda p, m, v: p - lr * m / (jnp.sqrt(v) + 1e-8), params, m, v)
        return params, m, v, step, value

    *w, x = weights((8, 8), (8, 8), (4, 8))
    zeros = jax.tree.map(jnp.zeros_like, w)
    return Program(fn, (w, zeros, zeros, jnp.array(0), x), TWO)


@program
def adam_donated():
    made = adam()
    params, m, v, step, x = made.args
    v = jax.tree.map(jnp.array, v)
    return Program(made.fn, (params, m, v, step, x), TWO, jit={"donate_argnums": (0, 1, 2)})


@program
def four_stages_on_single_devices():
    def fn(w, x):
        def loss(w):
            h = x
            for i in range(4):
                h = stage(f"s{i}")(w[i], h)
            return jnp.sum(h**2)

        return jax.value_and_grad(loss)(w)

    *w, x = weights((8, 8), (8, 8), (8, 8), (8, 8), (4, 8))
    meshes = {f"m{i}": (("x", 1),) for i in range(4)}
    return Program(fn, (w, x), {f"s{i}": f"m{i}" for i in range(4)}, meshes)


@program
def meshes_of_different_sizes():
    made = sgd_step()
    return Program(made.fn, made.args, TWO, {"m0": (("x", 4),), "m1": (("x", 2),)})


@program
def one_mesh():
    made = sgd_step()
    return Program(made.fn, made.args, {"a": "m0", "b": "m0"}, {"m0": (("x", 2),)})


@program
def no_labels_at_all():
    def fn(x):
        return jnp.sin(x), x.sum()

    return Program(fn, tuple(weights((4, 8))), {})
