"""Errors of the compiler name the user's line, and say what to do."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import mpmd
from mpmd.errors import PartitionError

X = jnp.ones((4, 4))


def lower(fn, assignment, *args, jit=None, **config):
    devices = np.array(jax.devices())
    topology = {"m0": Mesh(devices[:2], ("x",)), "m1": Mesh(devices[2:4], ("x",))}
    return mpmd.jit(fn, mpmd.make_config(topology, assignment, **config), **(jit or {})).lower(
        *args
    )


def double(name, x):
    return mpmd.named_computation(lambda x: 2 * x, name=name)(x)


def test_all_labels_without_a_mesh_are_named():
    with pytest.raises(PartitionError) as caught:
        lower(lambda x: double("b", double("a", x)), {"c": "m0"}, X)
    text = str(caught.value)
    assert "'a' is not assigned to a mesh" in text
    assert "'b' is not assigned to a mesh" in text
    assert "test_explain.py:" in text
    assert text.endswith("Add the label to name_to_mesh_assignment of mpmd.make_config.")


def test_conflict_names_lines_and_not_locations():
    def fn(x):
        return jnp.sort(double("a", x) + double("b", x))

    options = {"mpmd_infer_transfers": False}
    with pytest.raises(PartitionError) as caught:
        lower(fn, {"a": "m0", "b": "m1"}, X, partitioning_options=options)
    text = str(caught.value)
    assert "loc(" not in text
    assert "callsite" not in text
    assert len(re.findall(r"Input \S*test_explain.py:\d+: m[01]\[[ab]\]", text)) == 2


def test_impossible_schedule():
    def fn(x):
        def loss(x):
            outs = [mpmd.call(lambda x: double("a", x), call_counter=i)(x) for i in range(3)]
            return jnp.prod(jnp.concatenate(outs))

        return jax.grad(loss)(x)

    with pytest.raises(PartitionError, match="choose another pipeline_schedule, such as 'GPipe'"):
        lower(fn, {"a": "m0"}, X, pipeline_schedule="1F1B")
    lower(fn, {"a": "m0"}, X)


def test_sharding_over_axes_that_no_mesh_has():
    other = NamedSharding(Mesh(np.array(jax.devices()[:2]), ("q",)), PartitionSpec("q"))
    with pytest.raises(ValueError, match=r"in_shardings of x is over 'q', .*'m0': \('x',\)"):
        lower(lambda x: double("a", x), {"a": "m0"}, X, jit={"in_shardings": (other,)})
