"""Runs a two-stage step from an installed wheel, outside the checkout; fails if that is not so."""

import os
import subprocess
import sys
from pathlib import Path

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import jax
import jax.numpy as jnp
import numpy as np

import mpmd
import mpmd.runtime

CHECKOUT = Path(__file__).resolve().parents[1]
assert CHECKOUT not in Path(mpmd.__file__).resolve().parents, mpmd.__file__
assert CHECKOUT not in Path(mpmd.runtime.__file__).resolve().parents, mpmd.runtime.__file__


def loss(w, x):
    """Two labelled layers."""
    h = mpmd.named_computation(lambda w, x: jnp.tanh(x @ w), name="a")(w[0], x)
    return mpmd.named_computation(lambda w, x: jnp.sum((x @ w) ** 2), name="b")(w[1], h)


devices = np.array(jax.devices()).reshape(2, 2)
topology = {f"m{i}": jax.sharding.Mesh(d, "x") for i, d in enumerate(devices)}
config = mpmd.make_config(topology, {"a": "m0", "b": "m1"})
w = [jnp.ones((4, 4)) * 0.1, jnp.ones((4, 4)) * 0.2]
x = jnp.arange(8.0).reshape(2, 4)
got = mpmd.jit(jax.grad(loss), config)(w, x)
for g, want in zip(got, jax.grad(loss)(w, x), strict=True):
    np.testing.assert_allclose(g, want, rtol=1e-5)

tool = Path(sys.executable).with_name("mpmd-opt")
done = subprocess.run(
    [tool, "-canonicalize"],
    input="func.func @f() { return }",
    text=True,
    capture_output=True,
    check=True,
)
assert "func.func @f" in done.stdout
print("the installed wheel works")
