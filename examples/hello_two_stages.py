"""The smallest pipeline: a two-layer network, a layer a mesh, trained for a few steps."""

import os

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")

import jax
import jax.numpy as jnp

import mpmd


def loss(w, x, y):
    h = mpmd.named_computation(lambda w, x: jnp.tanh(x @ w), name="first")(w["first"], x)
    finish = mpmd.named_computation(lambda w, h: jnp.mean((h @ w - y) ** 2), name="second")
    return finish(w["second"], h)


def step(w, x, y):  # plain JAX: value_and_grad, tree.map
    value, grads = jax.value_and_grad(loss)(w, x, y)
    return value, jax.tree.map(lambda p, g: p - 0.1 * g, w, grads)


devices = jax.devices()
topology = {"m0": jax.sharding.Mesh(devices[:2], "x"), "m1": jax.sharding.Mesh(devices[2:4], "x")}
config = mpmd.make_config(topology, {"first": "m0", "second": "m1"})
train = mpmd.jit(step, config, donate_argnums=0)

k = jax.random.split(jax.random.key(0), 3)
w = {"first": jax.random.normal(k[0], (8, 16)), "second": jax.random.normal(k[1], (16, 4))}
x, y = jax.random.normal(k[2], (32, 8)), jnp.ones((32, 4))
for i in range(5):
    value, w = train(w, x, y)
    print(f"step {i}: loss {value:.4f}, on {sorted(d.id for d in value.devices())}")
