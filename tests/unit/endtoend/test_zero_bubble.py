"""Schedules that split backwards give the gradient of `jax.jit` in f64, in the schedule's order."""

from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh

import mpmd
from mpmd.schedules import Kind, build

ONE_STAGE = ("ZeroBubbleH1", "ZeroBubbleH2FullTxLatency", "InterleavedZeroBubble")
TWO_STAGES = ("ZBV", "DualPipeV", "InterleavedZeroBubble")


@pytest.fixture(autouse=True)
def f64():
    with jax.enable_x64(True):
        yield


def array(*shape, seed=0):
    return jnp.asarray(np.random.default_rng(seed).normal(size=shape) * 0.3)


def layer(w, x):
    return jnp.tanh(x @ w)


def named(name, fn=layer):
    return mpmd.named_computation(fn, name=name)


@dataclass(frozen=True)
class Pipeline:
    """A loss of (weights, x) cut into stages `s0`, `s1`, ...; stage i is on mesh `placement[i]`."""

    loss: Any
    weights: Any
    placement: tuple[int, ...]
    whole: tuple[int, ...] = ()
    """The stages but the first whose backward cannot be split."""
    trained: Any = None
    """Which weights get a gradient: a key, or all."""

    def step(self, weights, xs):
        """One training step, without the update: the loss and the gradients of all microbatches."""

        def microbatch(trained, weights, x):
            return self.loss({**weights, **trained}, x)

        trained = {k: v for k, v in weights.items() if self.trained in (None, k)}
        total, grads = 0.0, jax.tree.map(jnp.zeros_like, trained)
        for i in range(xs.shape[0]):
            call = mpmd.call(jax.value_and_grad(microbatch), call_counter=i)
            value, new = call(trained, weights, xs[i])
            total, grads = total + value, jax.tree.map(jnp.add, grads, new)
        return total, grads

    def jitted(self, schedule, **options):
        num_meshes = 1 + max(self.placement)
        topology = {
            f"m{i}": Mesh(np.array(jax.devices()[i : i + 1]), ("x",)) for i in range(num_meshes)
        }
        labels = {f"s{i}": (f"m{mesh}", i) for i, mesh in enumerate(self.placement)}
        config = mpmd.make_config(
            topology, labels, pipeline_schedule=schedule, partitioning_options=options
        )
        return mpmd.jit(self.step, config)


def chain(num_stages):
    return Pipeline(chain_loss, {f"s{i}": array(4, 4, seed=i) for i in range(num_stages)}, ())


def chain_loss(weights, x):
    for i in range(len(weights)):  # jit sorts keys: s10 would come before s2
        x = named(f"s{i}")(weights[f"s{i}"], x)
    return jnp.sum(x**2)


def down(num_stages):
    """One stage on each mesh."""
    return replace(chain(num_stages), placement=tuple(range(num_stages)))


def round_and_round(num_meshes):
    """Two stages on each mesh: down the meshes, and down again."""
    return replace(chain(2 * num_meshes), placement=(*range(num_meshes), *range(num_meshes)))


def down_and_up(num_meshes):
    """Two stages on each mesh: the middle two, and the first and last, are neighbours there."""
    there = tuple(range(num_meshes))
    return replace(chain(2 * num_meshes), placement=(*there, *reversed(there)))


def two_layers():
    """A stage whose second layer's gradients need what its first layer's gradients need, too."""

    def loss(weights, x):
        for name, w in weights.items():
            x = named(name, lambda w, x: layer(w, layer(w, x)))(w, x)
        return jnp.sum(x**2)

    return replace(down(3), loss=loss)


def tied():
    """The last stage uses the first weights again, and sends their gradient to where they are."""

    def loss(weights, x):
        h = named("s1")(weights["s1"], named("s0")(weights["s0"], x))
        both = weights["s2"], weights["s0"]
        return jnp.sum(named("s2", lambda w, x: layer(w[1], layer(w[0], x)))(both, h) ** 2)

    return replace(down(3), loss=loss)


def frozen():
    """Only the first stage learns: the others make no gradient of weights."""
    return replace(down(3), trained="s0", whole=(1, 2))


@jax.custom_vjp
def both_at_once(w, x):
    return layer(w, x)


def _both_forward(w, x):
    y = layer(w, x)
    return y, (w, x, y)


def _both_backward(saved, g):
    w, x, y = saved
    before = g * (1 - y**2)
    return x.T @ before, before @ w.T


both_at_once.defvjp(_both_forward, _both_backward)


def custom():
    """One rule makes both gradients, of what they share."""

    def loss(weights, x):
        h = named("s1", both_at_once)(weights["s1"], named("s0")(weights["s0"], x))
        return jnp.sum(named("s2", both_at_once)(weights["s2"], h) ** 2)

    return replace(down(3), loss=loss)


def loop():
    """A loop makes both gradients of the middle stage, step by step: these cannot be split."""

    def twice(w, x):
        return jax.lax.scan(lambda x, _: (layer(w, x), None), x, None, length=2)[0]

    def loss(weights, x):
        h = named("s1", twice)(weights["s1"], named("s0")(weights["s0"], x))
        return jnp.sum(named("s2")(weights["s2"], h) ** 2)

    return replace(down(3), loss=loss, whole=(1,))


def order(lowered):
    """The tasks of each mesh, in the order of the program."""
    report = lowered.schedule
    rows = [[] for _ in report.meshes]
    for box in report.boxes:
        rows[box.mesh].append(box.text)
    return rows


def expected_order(pipeline, schedule, num_microbatches):
    """The order of the schedule.

    A backward that stays whole runs when its first half would; one that is split runs as its
    halves in a row where the schedule has it whole.
    """
    num_meshes = 1 + max(pipeline.placement)
    stages = len(pipeline.placement) // num_meshes
    whole = {0, *pipeline.whole}

    def spelled(task):
        kinds = [task.kind]
        if task.stage in whole:
            kinds = {Kind.Bi: [Kind.B], Kind.Bw: []}.get(task.kind, kinds)
        elif task.kind is Kind.B:
            kinds = [Kind.Bi, Kind.Bw]
        return [str(replace(task, kind=kind)) for kind in kinds]

    rows = build(schedule, num_meshes, num_microbatches, stages)
    return [[text for task in row for text in spelled(task)] for row in rows]


def assert_same(got, want):
    jax.tree.map(lambda g, w: np.testing.assert_allclose(g, w, rtol=1e-13, atol=1e-14), got, want)


def check(pipeline, schedule, num_microbatches, *, run=True):
    xs = array(num_microbatches, 3, 4, seed=9)
    step = pipeline.jitted(schedule)
    lowered = step.lower(pipeline.weights, xs)
    assert order(lowered) == expected_order(pipeline, schedule, num_microbatches)
    if not run:
        return
    assert_same(step(pipeline.weights, xs), jax.jit(pipeline.step)(pipeline.weights, xs))


@pytest.mark.parametrize("num_microbatches", [1, 2, 5])
@pytest.mark.parametrize("num_stages", [1, 2, 3, 4])
def test_sizes(num_stages, num_microbatches):
    check(down(num_stages), "ZeroBubbleH1", num_microbatches, run=num_microbatches == 5)


@pytest.mark.parametrize("schedule", ONE_STAGE)
@pytest.mark.parametrize("make", [two_layers, tied, frozen, custom])
def test_programs(make, schedule):
    check(make(), schedule, 3)


@pytest.mark.filterwarnings("ignore:the backward of s1")
def test_a_backward_that_cannot_be_split_stays_whole():
    check(loop(), "ZeroBubbleH1", 3)


def test_says_once_that_a_backward_stays_whole():
    pipeline = loop()
    with pytest.warns(UserWarning, match="stays whole") as warned:
        pipeline.jitted("ZeroBubbleH1").lower(pipeline.weights, array(3, 3, 4))
    (message,) = [str(each.message) for each in warned]
    assert "the backward of s1(1) on mesh 'm1'" in message


def test_both_halves_use_a_forward_that_is_computed_again():
    pipeline = two_layers()
    xs = array(3, 3, 4)
    step = pipeline.jitted("ZeroBubbleH1", mpmd_fragment_remat=True)
    assert order(step.lower(pipeline.weights, xs))[1] == (
        "1F0 1F1 1F0 1Bi0 1F2 1F1 1Bi1 1Bw0 1F2 1Bi2 1Bw1 1Bw2".split()
    )
    assert_same(step(pipeline.weights, xs), jax.jit(pipeline.step)(pipeline.weights, xs))


def test_the_user_can_keep_backwards_whole():
    pipeline = down(2)
    xs = array(2, 3, 4)
    lowered = pipeline.jitted("ZeroBubbleH1", mpmd_split_bwd_fragments=False).lower(
        pipeline.weights, xs
    )
    assert order(lowered) == [["0F0", "0F1", "0B0", "0B1"], ["1F0", "1B0", "1F1", "1B1"]]


@pytest.mark.parametrize("num_microbatches", [1, 2, 5])
@pytest.mark.parametrize("schedule", TWO_STAGES)
def test_two_stages_a_mesh(schedule, num_microbatches):
    make = round_and_round if schedule.startswith("Interleaved") else down_and_up
    check(make(2), schedule, num_microbatches, run=num_microbatches == 5)
