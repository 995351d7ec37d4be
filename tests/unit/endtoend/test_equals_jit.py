"""`mpmd.jit(f)` gives what `jax.jit(f)` gives, for every program, split and schedule."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh

import mpmd

from .programs import PROGRAMS

CASES = [
    pytest.param(name, schedule, id=f"{name}-{schedule}" if schedule else name)
    for name, make in PROGRAMS.items()
    for schedule in make().schedules
]


def topology_of(meshes):
    devices, used, topology = jax.devices(), 0, {}
    for name, axes in meshes.items():
        shape = tuple(size for _, size in axes)
        count = int(np.prod(shape))
        block = np.array(devices[used : used + count]).reshape(shape)
        topology[name] = Mesh(block, tuple(axis for axis, _ in axes))
        used += count
    return topology


def as_numpy(value):
    if isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jax.dtypes.prng_key):
        value = jax.random.key_data(value)
    array = np.asarray(value)
    return array.astype(np.float32) if array.dtype == jnp.bfloat16 else array


def jitted(program, schedule=None):
    topology = topology_of(program.meshes)
    options = program.jit(topology) if callable(program.jit) else program.jit
    config = mpmd.make_config(
        topology,
        program.assignment,
        name_to_stage_assignment=program.stages,
        pipeline_schedule=schedule,
        **program.config,
    )
    return mpmd.jit(program.fn, config, **options), options


@functools.cache  # the same for every schedule
def expected(name):
    program = PROGRAMS[name]()
    options = {} if callable(program.jit) else program.jit
    static = {k: v for k, v in options.items() if k.startswith("static")}
    return jax.jit(plain(program.fn), **static)(*program.args, **program.kwargs)


def plain(fn):
    """The same function for jax.jit; constraints that name an axis need a mesh, so they go."""

    def call(*args, **kwargs):
        keep = jax.lax.with_sharding_constraint
        jax.lax.with_sharding_constraint = lambda x, _: x
        try:
            return fn(*args, **kwargs)
        finally:
            jax.lax.with_sharding_constraint = keep

    return call


def assert_same(got, want, rtol):
    assert jax.tree.structure(got) == jax.tree.structure(want)
    for (path, g), (_, w) in zip(
        jax.tree_util.tree_leaves_with_path(got),
        jax.tree_util.tree_leaves_with_path(want),
        strict=True,
    ):
        where = jax.tree_util.keystr(path)
        assert g.dtype == w.dtype, where
        assert getattr(g, "weak_type", False) == getattr(w, "weak_type", False), where
        assert g.shape == w.shape, where
        g, w = as_numpy(g), as_numpy(w)
        if np.issubdtype(w.dtype, np.floating):
            scale = np.abs(w).max(initial=1e-3)
            np.testing.assert_allclose(g, w, rtol=rtol, atol=rtol * scale, err_msg=where)
        else:
            np.testing.assert_array_equal(g, w, err_msg=where)


@pytest.mark.parametrize(("name", "schedule"), CASES)
def test_equals_jit(name, schedule):
    program = PROGRAMS[name]()
    step, _ = jitted(program, schedule)
    want = expected(name)
    got = step(*program.args, **program.kwargs)
    assert_same(got, want, program.rtol)


@pytest.mark.parametrize("name", ["sgd_step", "by_calls_5_microbatches", "dropout"])
def test_two_runs_are_bitwise_equal(name):
    program = PROGRAMS[name]()
    step, _ = jitted(program)
    first = jax.tree.leaves(step(*program.args))
    for a, b in zip(first, jax.tree.leaves(step(*program.args)), strict=True):
        np.testing.assert_array_equal(as_numpy(a), as_numpy(b))
