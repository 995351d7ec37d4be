"""Host memory, host callbacks: what depends on the platform."""

import time

import jax
import numpy as np
import pytest

import mpmd.runtime as rt
from tests.unit.runtime.programs import ProgramText, array, on_first
from tests.unit.runtime.test_run import X, put


def test_transfers_to_and_from_host_memory():
    program = ProgramText()
    value = program.argument(on_first("8xf32", [0, 1]))
    pinned = array("8xf32", [0, 1], "2 to [0] on 2", memory_kind="pinned_host")
    (parked,) = program.copy([value], [pinned])
    (back,) = program.copy([parked], [on_first("8xf32", [2, 3])])
    loaded = rt.load(program.text(parked, back))
    y, z = loaded(*put(loaded, X))
    assert y.sharding.memory_kind == "pinned_host"
    assert z.sharding.memory_kind != "pinned_host"
    np.testing.assert_array_equal(y, X)
    np.testing.assert_array_equal(z, X)


def with_callback(on_host):
    """Returns the body of a fragment that calls `on_host`, and the list of callbacks for it."""

    def function(x):
        return jax.pure_callback(on_host, jax.ShapeDtypeStruct((8,), np.float32), x)

    lowered = jax.jit(function).lower(jax.ShapeDtypeStruct((8,), np.float32))
    text = str(lowered.compiler_ir())
    body = text[text.index("sdy.mesh") : text.rindex("}")]
    return body, lowered._lowering.compile_args["host_callbacks"]


def test_host_callbacks_on_one_device():
    """Callbacks are found in the fragment by their number in the list that lowering collected."""
    seen = []

    def on_host(x):
        seen.append(x.sum())
        return x + 1

    body, callbacks = with_callback(on_host)
    program = ProgramText()
    value = program.argument(array("8xf32", [3]))
    callee = program.module("f", body)
    loaded = rt.load(
        program.text(*program.call(callee, [value], [value.type], [3])), host_callbacks=callbacks
    )
    (y,) = loaded(*put(loaded, X))
    np.testing.assert_array_equal(y, X + 1)
    assert seen == [X.sum()]


def test_an_error_in_a_host_callback_names_the_fragment():
    def on_host(x):
        raise ValueError("no luck on the host")

    body, callbacks = with_callback(on_host)
    program = ProgramText()
    value = program.argument(array("8xf32", [3]))
    callee = program.module("moody", body)
    (value,) = program.call(callee, [value], [value.type], [3], mesh="m1")
    loaded = rt.load(program.text(value), name="step", host_callbacks=callbacks)
    for _ in range(2):
        with pytest.raises(rt.ExecutionError, match=r"(?s)fragment moody on mesh m1: .*no luck on"):
            loaded(*put(loaded, X))


def test_meshes_work_at_the_same_time():
    """Two stages that sleep on the host: a pipeline takes (batches + 1) naps, not 2 x batches."""
    nap, batches = 0.03, 8

    def on_host(x):
        time.sleep(nap)
        return x + 1

    body, callbacks = with_callback(on_host)
    program = ProgramText()
    callee = program.module("f", body)
    values = [program.argument(array("8xf32", [0])) for _ in range(batches)]
    first = [program.call(callee, [value], [value.type], [0])[0] for value in values]
    moved = [program.copy([value], [array("8xf32", [1])])[0] for value in first]
    second = [program.call(callee, [value], [value.type], [1])[0] for value in moved]
    loaded = rt.load(program.text(*second), host_callbacks=callbacks)
    arguments = put(loaded, *[X + index for index in range(batches)])
    loaded(*arguments)
    start = time.monotonic()
    outputs = loaded(*arguments)
    jax.block_until_ready(outputs)
    took = time.monotonic() - start
    for index, output in enumerate(outputs):
        np.testing.assert_array_equal(output, X + index + 2)
    assert took < 0.85 * 2 * batches * nap
