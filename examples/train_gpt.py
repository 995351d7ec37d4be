"""Trains a byte-level GPT on Python's own library, in pipeline stages on several device meshes.

By default 4 stages of 2 virtual CPU devices each, 1F1B over 8 microbatches; the devices of a stage
share the sequences of each microbatch. The first steps are also run with plain `jax.jit` on one
device, and the losses must agree.
"""

from __future__ import annotations

import argparse
import os
import sys
import time


def arguments() -> argparse.Namespace:
    """Reads the command line; must run before jax starts, which counts the devices."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--schedule", default="1F1B", help="e.g. GPipe, 1F1B")
    parser.add_argument("--stages", type=int, default=4)
    parser.add_argument("--devices-per-stage", type=int, default=2)
    parser.add_argument("--microbatches", type=int, default=8)
    parser.add_argument("--batch", type=int, default=4, help="sequences in a microbatch")
    parser.add_argument("--dim", type=int, default=64)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--time", type=int, default=64, help="bytes in a sequence")
    parser.add_argument("--check-steps", type=int, default=3, help="steps compared with jax.jit")
    parser.add_argument("--smoke", action="store_true", help="a few tiny steps, for tests")
    options = parser.parse_args()
    if options.smoke:
        options.steps, options.dim, options.time, options.microbatches = 4, 16, 16, 4
    if options.layers % options.stages:
        parser.error(f"{options.layers} layers do not divide into {options.stages} stages")
    if options.batch % options.devices_per_stage:
        parser.error(
            f"{options.batch} sequences do not divide among {options.devices_per_stage} devices"
        )
    return options


OPTIONS = arguments()
_COUNT = OPTIONS.stages * OPTIONS.devices_per_stage
os.environ.setdefault("XLA_FLAGS", f"--xla_force_host_platform_device_count={_COUNT}")

import gpt  # noqa: E402
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402

import mpmd  # noqa: E402


def make_step(model: gpt.Model, microbatches: int):
    """Returns (params, momentum, tokens[microbatch, ...]) -> (loss, params, momentum)."""

    def step(params, momentum, tokens):
        gradient = mpmd.call(jax.value_and_grad(lambda p, t: gpt.loss(model, p, t)))
        total, grads = jnp.zeros(()), jax.tree.map(jnp.zeros_like, params)
        for i in range(microbatches):
            value, g = gradient(params, tokens[i])
            total, grads = total + value, jax.tree.map(jnp.add, grads, g)
        momentum = jax.tree.map(lambda m, g: 0.9 * m + g / microbatches, momentum, grads)
        params = jax.tree.map(lambda p, m: p - 0.05 * m, params, momentum)
        return total / microbatches, params, momentum

    return step


def main() -> int:
    """Trains, and returns the exit code."""
    if jax.device_count() < _COUNT:
        print(f"needs {_COUNT} devices, found {jax.device_count()}", file=sys.stderr)
        return 1
    model = gpt.Model(
        dim=OPTIONS.dim, layers=OPTIONS.layers, time=OPTIONS.time, stages=OPTIONS.stages
    )
    blocks = np.array(jax.devices()[:_COUNT]).reshape(OPTIONS.stages, -1)
    topology = {f"mesh{i}": Mesh(block, ("data",)) for i, block in enumerate(blocks)}
    assignment = {f"stage{i}": f"mesh{i}" for i in range(OPTIONS.stages)}
    try:
        config = mpmd.make_config(topology, assignment, pipeline_schedule=OPTIONS.schedule)
    except ValueError as error:
        print(f"train_gpt.py: error: {error}", file=sys.stderr)
        return 2
    held_out_config = mpmd.make_config(topology, assignment)

    step = make_step(model, OPTIONS.microbatches)
    params = gpt.init(model, jax.random.key(0))
    momentum = jax.tree.map(jnp.zeros_like, params)
    text, rng = gpt.Text(), np.random.default_rng(0)
    shape = (OPTIONS.microbatches, OPTIONS.batch)
    batch = text.batch(rng, shape, model.time)

    started = time.perf_counter()
    split = NamedSharding(topology["mesh0"], PartitionSpec(None, "data"))
    step_on_meshes = mpmd.jit(step, config, in_shardings=(None, None, split), donate_argnums=(0, 1))
    lowered = step_on_meshes.lower(params, momentum, batch)
    partitioned = time.perf_counter()
    train = lowered.compile()
    compiled = time.perf_counter()
    print(
        f"{OPTIONS.stages} stages x {OPTIONS.devices_per_stage} devices, {OPTIONS.schedule}, "
        f"{OPTIONS.microbatches} microbatches: partitioned in {partitioned - started:.1f} s, "
        f"compiled in {compiled - partitioned:.1f} s"
    )
    evaluate = mpmd.jit(lambda p, t: gpt.loss(model, p, t), held_out_config)
    plain = jax.jit(step)
    reference = (params, momentum)
    if OPTIONS.check_steps:
        reference = jax.tree.map(jnp.array, reference)

    first = value = None
    tokens_per_step = OPTIONS.microbatches * OPTIONS.batch * model.time
    started = time.perf_counter()
    for i in range(OPTIONS.steps):
        value, params, momentum = train(params, momentum, batch)
        if i < OPTIONS.check_steps:
            wanted, *reference = plain(*reference, batch)
            if not np.allclose(value, wanted, rtol=1e-4):
                print(f"step {i}: loss {value} is not jax.jit's {wanted}", file=sys.stderr)
                return 1
            started = time.perf_counter()  # the rate leaves out the reference
        first = float(value) if first is None else first
        done = i + 1 - OPTIONS.check_steps
        if done > 0 and (i % 10 == 9 or i + 1 == OPTIONS.steps):
            rate = done * tokens_per_step / (time.perf_counter() - started)
            print(f"step {i + 1:4d}/{OPTIONS.steps}  loss {value:.4f}  {rate:,.0f} tokens/s")
        batch = text.batch(rng, shape, model.time)

    held_out = evaluate(params, text.batch(rng, (OPTIONS.batch * 4,), model.time, held_out=True))
    print(f"held-out loss {held_out:.4f}")
    if OPTIONS.check_steps:
        print(f"the losses of the first {OPTIONS.check_steps} steps equal those of jax.jit")
    if not float(value) < first:
        print(f"the loss did not fall: {first} to {float(value)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
