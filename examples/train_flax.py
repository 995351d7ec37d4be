"""The same idea with flax.linen modules and an optax optimizer: two stages, GPipe, Adam."""

from __future__ import annotations

import argparse
import os
import sys

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from gpt import VOCAB, Text
from jax.sharding import Mesh

import mpmd

DIM, TIME, MICROBATCHES, BATCH = 32, 32, 4, 4


class Embed(nn.Module):
    """Bytes to vectors, then one mixing block."""

    @nn.compact
    def __call__(self, tokens):
        """Returns [batch, time, DIM]."""
        x = nn.Embed(VOCAB, DIM)(tokens)
        x = x + nn.SelfAttention(num_heads=4)(nn.LayerNorm()(x), nn.make_causal_mask(tokens))
        return x + nn.Dense(DIM)(nn.gelu(nn.Dense(4 * DIM)(nn.LayerNorm()(x))))


class Head(nn.Module):
    """A block and the logits."""

    @nn.compact
    def __call__(self, x):
        """Returns [batch, time, VOCAB]."""
        x = x + nn.Dense(DIM)(nn.gelu(nn.Dense(4 * DIM)(nn.LayerNorm()(x))))
        return nn.Dense(VOCAB)(nn.LayerNorm()(x))


embed, head, optimizer = Embed(), Head(), optax.adam(3e-3)


def loss(params, tokens):
    """Mean cross-entropy of the next byte."""
    h = mpmd.named_computation(embed.apply, name="embed")(params["embed"], tokens[:, :-1])

    def finish(p, h, targets):
        return optax.softmax_cross_entropy_with_integer_labels(head.apply(p, h), targets).mean()

    return mpmd.named_computation(finish, name="head")(params["head"], h, tokens[:, 1:])


def step(params, state, tokens):
    """One Adam step over all microbatches."""
    gradient = mpmd.call(jax.value_and_grad(loss))
    total, grads = jnp.zeros(()), jax.tree.map(jnp.zeros_like, params)
    for i in range(MICROBATCHES):
        value, g = gradient(params, tokens[i])
        total, grads = total + value, jax.tree.map(jnp.add, grads, g)
    grads = jax.tree.map(lambda g: g / MICROBATCHES, grads)
    updates, state = optimizer.update(grads, state, params)
    return total / MICROBATCHES, optax.apply_updates(params, updates), state


def main() -> int:
    """Trains a little, compares with jax.jit, returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--smoke", action="store_true", help="a few steps, for tests")
    options = parser.parse_args()
    steps = 3 if options.smoke else options.steps

    blocks = np.array(jax.devices()[:4]).reshape(2, 2)
    topology = {f"m{i}": Mesh(block, ("data",)) for i, block in enumerate(blocks)}
    config = mpmd.make_config(topology, {"embed": "m0", "head": "m1"}, pipeline_schedule="GPipe")
    train, plain = mpmd.jit(step, config), jax.jit(step)

    text, rng = Text(), np.random.default_rng(0)
    tokens = text.batch(rng, (MICROBATCHES, BATCH), TIME)
    keys = jax.random.split(jax.random.key(0))
    params = {"embed": embed.init(keys[0], tokens[0, :, :-1])}
    hidden = embed.apply(params["embed"], tokens[0, :, :-1])
    params["head"] = head.init(keys[1], hidden)
    state = optimizer.init(params)

    first = value = None
    for i in range(steps):
        value, new_params, new_state = train(params, state, tokens)
        if i < 2:
            wanted = plain(params, state, tokens)[0]
            if not np.allclose(value, wanted, rtol=1e-4):
                print(f"step {i}: loss {value} is not jax.jit's {wanted}", file=sys.stderr)
                return 1
            params, state = jax.device_get((new_params, new_state))
        else:
            params, state = new_params, new_state
        first = float(value) if first is None else first
        if i % 10 == 0 or i + 1 == steps:
            print(f"step {i + 1:3d}/{steps}  loss {value:.4f}")
        tokens = text.batch(rng, (MICROBATCHES, BATCH), TIME)
    return 0 if float(value) < first else 1


if __name__ == "__main__":
    sys.exit(main())
