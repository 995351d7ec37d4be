"""Compile time: ours against the C++ partitioner in jaxlib, on the same labelled modules.

Measured from the parsed module to the IFRT program (import, optimize, partition, export, lowering),
ours and the reference in turn; prints the median ratio and its spread, and what the programs cost.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=16")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))

import gpt
import jax
import jax.numpy as jnp
import numpy as np
import reference

import mpmd
from mpmd.frontend.partition import partition_module

SIZES = {  # stages, microbatches, layers
    "smoke": [(2, 2, 2)],
    "default": [(4, 8, 8), (4, 32, 8), (4, 128, 8), (8, 64, 16)],
}
DEVICES = 2


def training_step(stages: int, microbatches: int, layers: int, style: str):
    """Returns (step, example arguments as shapes)."""
    model = gpt.Model(dim=16, heads=2, layers=layers, time=8, stages=stages)
    gradient = jax.value_and_grad(lambda p, t: gpt.loss(model, p, t))

    def accumulate(carry, new):
        return jax.tree.map(jnp.add, carry, new)

    def step(params, tokens):
        zero = (jnp.zeros(()), jax.tree.map(jnp.zeros_like, params))
        if style == "loop":
            total, grads = mpmd.fori_loop(
                microbatches, lambda i, c: accumulate(c, gradient(params, tokens[i])), zero
            )
        else:
            total, grads = zero
            for i in range(microbatches):
                new = mpmd.call(gradient, call_counter=i)(params, tokens[i])
                total, grads = accumulate((total, grads), new)
        return total, jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

    params = jax.eval_shape(lambda: gpt.init(model, jax.random.key(0)))
    tokens = jax.ShapeDtypeStruct((microbatches, 2, model.time + 1), jnp.int32)
    return step, (params, tokens)


def labelled(stages, microbatches, layers, style, config) -> tuple[str, tuple[int, int]]:
    """Returns the labelled module that both partitioners get, and its arguments and results."""
    step, arguments = training_step(stages, microbatches, layers, style)
    results = jax.tree.leaves(jax.eval_shape(step, *arguments))
    text = mpmd.jit(step, config).lower(*arguments).as_text("stablehlo")
    return text, (len(jax.tree.leaves(arguments)), len(results))


def ours(text: str, config, counts: tuple[int, int]) -> tuple[float, str]:
    """Partitions and lowers; returns the seconds and the MPMD text."""
    started = time.perf_counter()
    result = partition_module(text, config, [None] * counts[0], [None] * counts[1])
    return time.perf_counter() - started, result.mpmd_text


def measure(size: tuple[int, int, int], style: str, schedule: str, repeats: int) -> dict:
    """Measures one case; the reference is left out where jaxlib does not carry it."""
    stages = size[0]
    meshes = {f"mesh{i}": [("data", DEVICES)] for i in range(stages)}
    assignment = {f"stage{i}": f"mesh{i}" for i in range(stages)}
    blocks = np.array(jax.devices()[: stages * DEVICES]).reshape(stages, DEVICES)
    topology = {
        name: jax.sharding.Mesh(block, ("data",))
        for name, block in zip(meshes, blocks, strict=True)
    }
    config = mpmd.make_config(topology, assignment, pipeline_schedule=schedule)
    text, counts = labelled(*size, style, config)
    our_times, cpp_times = [], []
    result = {"stages": size[0], "microbatches": size[1], "layers": size[2], "style": style}
    for _ in range(repeats):
        seconds, mine = ours(text, config, counts)
        our_times.append(seconds)
        if reference.available():
            seconds, theirs, _ = reference.partition(
                text, meshes, assignment, schedule=schedule, options={"mpmd_infer_transfers": True}
            )
            cpp_times.append(seconds)
            result["cpp"] = reference.counts(theirs)
    result["ours"] = reference.counts(mine)
    result["seconds"] = statistics.median(our_times)
    if cpp_times:
        ratios = [a / b for a, b in zip(our_times, cpp_times, strict=True)]
        result["cpp_seconds"] = statistics.median(cpp_times)
        result["ratio"] = statistics.median(ratios)
        result["spread"] = [min(ratios), max(ratios)]
    return result


def main() -> None:
    """Runs the cases and prints a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="one tiny case")
    parser.add_argument("--schedule", default="1F1B")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--size", action="append", help="STAGESxMICROBATCHESxLAYERS")
    parser.add_argument("--style", choices=("calls", "loop"), action="append")
    parser.add_argument("--json", help="write the results to this file")
    options = parser.parse_args()
    sizes = SIZES["smoke" if options.smoke else "default"]
    if options.size:
        sizes = [tuple(map(int, text.split("x"))) for text in options.size]
    results = []
    for size in sizes:
        for style in options.style or ("calls", "loop"):
            result = measure(size, style, options.schedule, 1 if options.smoke else options.repeats)
            results.append(result)
            line = f"{size[0]}x{size[1]}x{size[2]} {style:5s}: {result['seconds']:.2f} s"
            if "ratio" in result:
                low, high = result["spread"]
                line += (
                    f", C++ {result['cpp_seconds']:.2f} s, ratio {result['ratio']:.2f}"
                    f" ({low:.2f}-{high:.2f}); ours {result['ours']}, C++ {result['cpp']}"
                )
            print(line, flush=True)
    if options.json:
        versions = {"jax": jax.__version__, "date": time.strftime("%Y-%m-%d")}
        Path(options.json).write_text(json.dumps({**versions, "results": results}, indent=1))


if __name__ == "__main__":
    main()
