"""A byte-level GPT in plain JAX, cut into labelled stages, and the text that it learns."""

from __future__ import annotations

import sysconfig
from dataclasses import dataclass
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import mpmd

VOCAB = 256


@dataclass(frozen=True)
class Model:
    """Sizes of the network; `layers` is a multiple of `stages`."""

    dim: int = 64
    heads: int = 4
    layers: int = 4
    time: int = 64
    stages: int = 4


def init(model: Model, key: jax.Array) -> dict:
    """Returns the parameters, grouped by the stage that uses them."""

    def dense(key, rows, columns):
        return jax.random.normal(key, (rows, columns)) / np.sqrt(rows)

    def layer(key):
        k = jax.random.split(key, 4)
        d = model.dim
        return {
            "qkv": dense(k[0], d, 3 * d),
            "out": dense(k[1], d, d) * 0.5,
            "up": dense(k[2], d, 4 * d),
            "down": dense(k[3], 4 * d, d) * 0.5,
            "norm1": jnp.ones(d),
            "norm2": jnp.ones(d),
        }

    keys = jax.random.split(key, model.layers + 3)
    layers = [layer(k) for k in keys[3:]]
    per_stage = model.layers // model.stages
    params = {
        f"stage{s}": {"layers": layers[s * per_stage : (s + 1) * per_stage]}
        for s in range(model.stages)
    }
    params["stage0"]["embedding"] = jax.random.normal(keys[0], (VOCAB, model.dim)) * 0.5
    params["stage0"]["position"] = jax.random.normal(keys[1], (model.time, model.dim)) * 0.1
    params[f"stage{model.stages - 1}"]["head"] = dense(keys[2], model.dim, VOCAB)
    return params


def _norm(x, scale):
    return scale * x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)


def _block(model: Model, p: dict, x):
    batch, time, dim = x.shape
    qkv = (_norm(x, p["norm1"]) @ p["qkv"]).reshape(batch, time, 3, model.heads, -1)
    q, k, v = qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2]
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(dim // model.heads)
    causal = jnp.tril(jnp.ones((time, time), bool))
    weights = jax.nn.softmax(jnp.where(causal, scores, -1e9))
    x = x + jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(batch, time, dim) @ p["out"]
    return x + jax.nn.gelu(_norm(x, p["norm2"]) @ p["up"]) @ p["down"]


def _stage(model: Model, p: dict, x):
    if "embedding" in p:
        x = p["embedding"][x] + p["position"]
    for layer in p["layers"]:
        x = _block(model, layer, x)
    return x


def loss(model: Model, params: dict, tokens) -> jax.Array:
    """Mean cross-entropy of the next byte, for tokens of shape [batch, time + 1]."""
    x, targets = tokens[:, :-1], tokens[:, 1:]
    last = model.stages - 1
    for s in range(last):
        name = f"stage{s}"
        x = mpmd.named_computation(lambda p, x: _stage(model, p, x), name=name)(params[name], x)

    def finish(p, x, targets):
        logits = _stage(model, p, x) @ p["head"]
        picked = jnp.take_along_axis(jax.nn.log_softmax(logits), targets[..., None], -1)
        return -jnp.mean(picked)

    name = f"stage{last}"
    return mpmd.named_computation(finish, name=name)(params[name], x, targets)


class Text:
    """The source files of Python's standard library, as bytes: real text that is everywhere."""

    def __init__(self, limit: int = 4_000_000) -> None:
        root = Path(sysconfig.get_paths()["stdlib"])
        files = sorted(root.glob("*.py")) + sorted(root.glob("json/*.py"))
        data = b"".join(path.read_bytes() for path in files)[:limit]
        cut = len(data) * 95 // 100
        array = np.frombuffer(data, np.uint8).astype(np.int32)
        self.train, self.held_out = array[:cut], array[cut:]

    def batch(self, rng: np.random.Generator, shape: tuple[int, ...], time: int, held_out=False):
        """Returns random windows: int32 of shape [*shape, time + 1]."""
        source = self.held_out if held_out else self.train
        starts = rng.integers(0, len(source) - time - 1, shape)
        return source[starts[..., None] + np.arange(time + 1)]
