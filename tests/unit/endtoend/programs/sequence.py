"""Sequence models: transformers, encoder-decoder, recurrences, caches, rematerialisation."""

import jax
import jax.numpy as jnp
import numpy as np

import mpmd

from .registry import Program, program

DIM, HEADS, VOCAB, TIME = 8, 2, 11, 6


def normal(rng, *shape):
    return jnp.asarray(rng.normal(size=shape) * 0.2, jnp.float32)


def layer_params(rng):
    return {
        "qkv": normal(rng, DIM, 3 * DIM),
        "out": normal(rng, DIM, DIM),
        "up": normal(rng, DIM, 2 * DIM),
        "down": normal(rng, 2 * DIM, DIM),
        "scale": jnp.ones(DIM),
    }


def attention(q, k, v, causal):
    batch, time, _ = q.shape

    def heads(x):
        return x.reshape(batch, x.shape[1], HEADS, DIM // HEADS)

    scores = jnp.einsum("bqhd,bkhd->bhqk", heads(q), heads(k)) / np.sqrt(DIM // HEADS)
    if causal:
        mask = jnp.tril(jnp.ones((time, k.shape[1]), bool))
        scores = jnp.where(mask, scores, -1e9)
    out = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), heads(v))
    return out.reshape(batch, time, DIM)


def norm(x, scale):
    return scale * (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def block(p, x, causal=True):
    q, k, v = jnp.split(norm(x, p["scale"]) @ p["qkv"], 3, axis=-1)
    x = x + attention(q, k, v, causal) @ p["out"]
    return x + jax.nn.gelu(norm(x, p["scale"]) @ p["up"]) @ p["down"]


def cross_entropy(logits, targets):
    logp = jax.nn.log_softmax(logits)
    return -jnp.mean(jnp.take_along_axis(logp, targets[..., None], axis=-1))


def tokens(batch=4):
    return jnp.asarray(np.random.default_rng(7).integers(0, VOCAB, (batch, TIME + 1)))


def gpt_params(layers):
    rng = np.random.default_rng(0)
    return {
        "emb": normal(rng, VOCAB, DIM),
        "layers": [layer_params(rng) for _ in range(layers)],
        "head": normal(rng, DIM, VOCAB),
    }


def gpt_loss(params, toks, stages=2, remat=None):
    layers = params["layers"]
    per = len(layers) // stages
    inputs, targets = toks[:, :-1], toks[:, 1:]
    h = inputs
    for s in range(stages):
        mine = layers[s * per : (s + 1) * per]

        def run(mine, h, emb=None, head=None):
            if emb is not None:
                h = emb[h]
            for p in mine:
                h = (jax.checkpoint(block) if remat == "inside" else block)(p, h)
            return h if head is None else cross_entropy(h @ head, targets)

        labelled = mpmd.named_computation(run, name=f"s{s}")
        if remat == "around":
            labelled = jax.checkpoint(labelled)
        extra = {}
        if s == 0:
            extra["emb"] = params["emb"]
        if s == stages - 1:
            extra["head"] = params["head"]
        h = labelled(mine, h, **extra)
    return h


def gpt_step(stages, remat=None):
    def fn(params, toks):
        loss, grads = jax.value_and_grad(gpt_loss)(params, toks, stages, remat)
        return loss, jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

    return fn


def staged(stages):
    return (
        {f"s{i}": f"m{i}" for i in range(stages)},
        {f"m{i}": (("x", 2),) for i in range(stages)},
    )


@program
def gpt_two_stages():
    return Program(gpt_step(2), (gpt_params(2), tokens()), *staged(2), rtol=1e-4)


@program
def gpt_four_stages():
    return Program(gpt_step(4), (gpt_params(4), tokens()), *staged(4), rtol=1e-4)


@program
def remat_inside_a_label():
    return Program(gpt_step(2, "inside"), (gpt_params(2), tokens()), *staged(2), rtol=1e-4)


@program
def remat_around_a_label():
    return Program(gpt_step(2, "around"), (gpt_params(2), tokens()), *staged(2), rtol=1e-4)


@program
def encoder_decoder():
    def fn(params, src, tgt):
        def encode(p, src):
            return block(p["layer"], p["emb"][src], causal=False)

        def decode(p, memory, tgt):
            h = block(p["layer"], p["emb"][tgt[:, :-1]])
            h = h + attention(h @ p["q"], memory @ p["k"], memory @ p["v"], causal=False)
            return cross_entropy(h @ p["emb"].T, tgt[:, 1:])

        def loss(params):
            memory = mpmd.named_computation(encode, name="enc")(params["enc"], src)
            return mpmd.named_computation(decode, name="dec")(params["dec"], memory, tgt)

        return jax.value_and_grad(loss)(params)

    rng = np.random.default_rng(1)
    enc = {"emb": normal(rng, VOCAB, DIM), "layer": layer_params(rng)}
    dec = {"emb": normal(rng, VOCAB, DIM), "layer": layer_params(rng)}
    dec |= {k: normal(rng, DIM, DIM) for k in "qkv"}
    return Program(
        fn,
        ({"enc": enc, "dec": dec}, tokens()[:, :4], tokens()),
        {"enc": "m0", "dec": "m1"},
        rtol=1e-4,
    )


@program
def kv_cache_decoding():
    """One decoding step: two caches on two meshes are updated at a position and donated."""

    def fn(params, caches, token, position):
        def step(p, cache, h):
            q, k, v = jnp.split(h @ p["qkv"], 3, axis=-1)
            keys = jax.lax.dynamic_update_slice(cache["k"], k, (0, position, 0))
            values = jax.lax.dynamic_update_slice(cache["v"], v, (0, position, 0))
            scores = jnp.einsum("bqd,bkd->bqk", q, keys)
            visible = jnp.arange(keys.shape[1]) <= position
            scores = jnp.where(visible, scores, -1e9)
            out = jnp.einsum("bqk,bkd->bqd", jax.nn.softmax(scores), values)
            return h + out @ p["out"], {"k": keys, "v": values}

        h = mpmd.named_computation(lambda e, t: e[t], name="s0")(params["emb"], token)
        h, c0 = mpmd.named_computation(step, name="s0")(params["layers"][0], caches[0], h)
        h, c1 = mpmd.named_computation(step, name="s1")(params["layers"][1], caches[1], h)
        logits = mpmd.named_computation(lambda h, w: h @ w, name="s1")(h, params["head"])
        return jnp.argmax(logits, -1), [c0, c1]

    caches = [{k: jnp.zeros((4, TIME, DIM)) for k in "kv"} for _ in range(2)]
    args = (gpt_params(2), caches, tokens()[:, :1], jnp.array(2))
    return Program(fn, args, *staged(2), jit={"donate_argnums": (1,)})


@program
def scan_inside_a_label():
    def fn(w, x):
        def recur(w, x):
            def cell(h, x_t):
                h = jnp.tanh(h @ w + x_t)
                return h, h

            return jax.lax.scan(cell, jnp.zeros_like(x[0]), x)[1]

        def loss(w):
            h = mpmd.named_computation(recur, name="s0")(w[0], x)
            return jnp.mean(mpmd.named_computation(recur, name="s1")(w[1], h) ** 2)

        return jax.value_and_grad(loss)(w)

    rng = np.random.default_rng(2)
    w = [normal(rng, DIM, DIM), normal(rng, DIM, DIM)]
    return Program(fn, (w, normal(rng, 5, 4, DIM)), *staged(2))


@program
def scanned_layers_with_remat():
    def fn(stacked, x):
        def stage(stacked, x):
            body = jax.checkpoint(lambda h, p: (block(p, h), None))
            return jax.lax.scan(body, x, stacked)[0]

        def loss(stacked):
            h = mpmd.named_computation(stage, name="s0")(stacked[0], x)
            return jnp.mean(mpmd.named_computation(stage, name="s1")(stacked[1], h) ** 2)

        return jax.value_and_grad(loss)(stacked)

    rng = np.random.default_rng(3)
    layers = [layer_params(rng) for _ in range(4)]
    stacked = [
        jax.tree.map(lambda *xs: jnp.stack(xs), *layers[:2]),
        jax.tree.map(lambda *xs: jnp.stack(xs), *layers[2:]),
    ]
    return Program(fn, (stacked, normal(rng, 4, TIME, DIM)), *staged(2), rtol=1e-4)


@program
def while_and_cond_inside_labels():
    def fn(w, x, steps):
        def loop(w, x):
            return jax.lax.while_loop(
                lambda c: c[0] < steps, lambda c: (c[0] + 1, jnp.tanh(c[1] @ w)), (0, x)
            )[1]

        def branch(w, x):
            return jax.lax.cond(x.sum() > 0, lambda: x @ w, lambda: x - w.sum())

        h = mpmd.named_computation(loop, name="s0")(w[0], x)
        return mpmd.named_computation(branch, name="s1")(w[1], h)

    rng = np.random.default_rng(4)
    w = [normal(rng, DIM, DIM), normal(rng, DIM, DIM)]
    return Program(fn, (w, normal(rng, 4, DIM), jnp.array(3)), *staged(2))
