"""Host memory, host callbacks: what depends on the platform."""

import jax
import numpy as np

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


def test_host_callbacks_on_one_device():
    """Callbacks are found in the fragment by their number in the list that lowering collected."""
    seen = []

    def on_host(x):
        seen.append(x.sum())
        return x + 1

    def function(x):
        return jax.pure_callback(on_host, jax.ShapeDtypeStruct((8,), np.float32), x)

    lowered = jax.jit(function).lower(jax.ShapeDtypeStruct((8,), np.float32))
    callbacks = lowered._lowering.compile_args["host_callbacks"]
    text = str(lowered.compiler_ir())
    body = text[text.index("sdy.mesh") : text.rindex("}")]
    program = ProgramText()
    value = program.argument(array("8xf32", [3]))
    callee = program.module("f", body)
    loaded = rt.load(
        program.text(*program.call(callee, [value], [value.type], [3])), host_callbacks=callbacks
    )
    (y,) = loaded(*put(loaded, X))
    np.testing.assert_array_equal(y, X + 1)
    assert seen == [X.sum()]
