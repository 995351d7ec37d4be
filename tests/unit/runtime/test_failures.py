"""What is refused at loading or on entry, and what happens when a step fails."""

import dataclasses
import gc
import logging
import threading
import time
import weakref

import jax
import numpy as np
import pytest

import mpmd.runtime as rt
from mpmd.runtime import instructions, lanes
from tests.unit.runtime.programs import ProgramText, affine, array, function, on_first
from tests.unit.runtime.test_run import X, pipeline, put


class Broken:
    """Stands for compiled code of which call number `at` fails, at once or when waited for."""

    def __init__(
        self,
        run,
        at=0,
        late=False,
    ):
        self.run, self.at, self.late = run, at, late
        self.error = ValueError("no luck")
        self.calls = 0

    def __call__(self, arrays):
        number = self.calls
        self.calls += 1
        if number != self.at:
            return self.run(arrays)
        if not self.late:
            raise self.error
        _, results = self.run(arrays)
        return self, results

    def block_until_ready(self):
        raise self.error


def break_fragment(monkeypatch, load, fragment, **how):
    """Loads a program with one fragment broken."""
    original = instructions.InstructionMaker._runner

    def runner(self, run):
        found = original(self, run)
        name = self.plan.fragments[run.fragment].module.name
        if name != fragment:
            return found
        return broken.setdefault(name, Broken(found, **how))

    broken = {}
    monkeypatch.setattr(instructions.InstructionMaker, "_runner", runner)
    program = load()
    monkeypatch.undo()
    return program


@pytest.mark.parametrize("stage", range(3))
def test_a_failure_names_everything_and_the_runtime_goes_on(monkeypatch, stage):
    program = break_fragment(
        monkeypatch,
        lambda: rt.load(pipeline(depth=3), name="train"),
        f"p{stage}_s{stage}",
        at=1,
    )
    expected = ((X * 2 + 1) * 2 + 1) * 2 + 1
    np.testing.assert_array_equal(program(*put(program, X))[0], expected)
    message = rf"step 1 of train failed in fragment p{stage}_s{stage} on mesh m{stage}: no luck"
    with pytest.raises(rt.ExecutionError, match=message) as caught:
        program(*put(program, X))
    assert isinstance(caught.value.__cause__, ValueError)
    for _ in range(3):
        np.testing.assert_array_equal(program(*put(program, X))[0], expected)


def test_a_failure_that_comes_later_is_reported_once(monkeypatch, caplog):
    program = break_fragment(
        monkeypatch, lambda: rt.load(pipeline(depth=1), name="late"), "p0_s0", late=True
    )
    with caplog.at_level(logging.ERROR, "mpmd.runtime"):
        for _ in range(lanes.MULTI_DEVICE_LIMIT + 2):
            program(*put(program, X))
    (record,) = [record for record in caplog.records if "late" in record.getMessage()]
    assert "step 0 of late failed in fragment p0_s0 on mesh m0: no luck" in record.getMessage()


def test_a_stuck_fragment_ends_in_a_report(monkeypatch):
    release = threading.Event()

    class Stuck(Broken):
        def __call__(self, arrays):
            release.wait(30)
            return self.run(arrays)

    monkeypatch.setattr(f"{__name__}.Broken", Stuck)
    program = break_fragment(
        monkeypatch, lambda: rt.load(pipeline(depth=2), name="slow", stall_timeout=0.2), "p1_s1"
    )
    start = time.monotonic()
    with pytest.raises(rt.ExecutionError, match=r"slow made no progress for 0.2 s") as caught:
        program(*put(program, X))
    assert time.monotonic() - start < 10
    assert "lane of devices [2, 3] is at fragment p1_s1 on mesh m1" in str(caught.value)
    healthy = rt.load(pipeline(depth=2))
    np.testing.assert_array_equal(healthy(*put(healthy, X))[0], X * 4 + 3)
    release.set()
    np.testing.assert_array_equal(healthy(*put(healthy, X))[0], X * 4 + 3)


def test_an_interrupt_cancels_the_step(monkeypatch):
    program = rt.load(pipeline(depth=2))
    arguments = put(program, X)
    frames = []
    original = program._submit

    def submit(title, slots):
        frames.append(original(title, slots))

        class Interrupted:
            def __getattr__(self, name):
                return getattr(frames[0], name)

            def results(self, values):
                raise KeyboardInterrupt

        return Interrupted()

    monkeypatch.setattr(program, "_submit", submit)
    with pytest.raises(KeyboardInterrupt):
        program(*arguments)
    assert isinstance(frames[0].error, rt.StepCancelled)
    monkeypatch.undo()
    np.testing.assert_array_equal(program(*put(program, X))[0], X * 4 + 3)


def test_an_interrupt_before_all_lanes_have_their_part(monkeypatch):
    program = rt.load(pipeline(depth=3))
    arguments = put(program, X)
    submitted = []
    original = lanes.Lane.submit

    def submit(lane, part):
        if submitted:
            raise KeyboardInterrupt
        submitted.append(part)
        original(lane, part)

    # The last stage gets its part only, and would wait for the others.
    program._current = dataclasses.replace(program._current, tracks=program._current.tracks[::-1])
    monkeypatch.setattr(lanes.Lane, "submit", submit)
    with pytest.raises(KeyboardInterrupt):
        program(*arguments)
    monkeypatch.undo()
    np.testing.assert_array_equal(program(*arguments)[0], ((X * 2 + 1) * 2 + 1) * 2 + 1)


def test_close_frees_the_compiled_code():
    program = rt.load(pipeline(scale=7.5), name="done")
    (x,) = put(program, X)
    program(x)
    code = [weakref.ref(executable) for executable in program._prepared.executables]
    program.close()
    program.close()
    gc.collect()
    assert [reference() for reference in code] == [None, None]
    for use in (lambda: program(x), program.memory_analysis):
        with pytest.raises(rt.ExecutionError, match="done is closed"):
            use()


def test_arguments_are_checked_by_name():
    program = rt.load(pipeline(), argument_names=["batch['x']"])
    (good,) = put(program, X)
    cases = {
        r"expected 1 arguments, got 2": (good, good),
        r"batch\['x'\] must be float32\[8\], but is float32\[9\]": (jax.numpy.zeros(9),),
        r"batch\['x'\] must be float32\[8\], but is int32\[8\]": (jax.numpy.zeros(8, int),),
        r"batch\['x'\] has sharding .* needs": (jax.numpy.zeros(8),),
        r"batch\['x'\] must be a jax.Array .* but is a ndarray": (X,),
    }
    for message, values in cases.items():
        with pytest.raises(rt.ArgumentError, match=message):
            program(*values)


def test_arguments_are_placed_on_request():
    program = ProgramText()
    value = program.argument(on_first("8xf32", [0, 1]))
    scale = program.argument(array("f32", [0, 1]))
    callee = program.module(
        "f",
        function(
            "%x: tensor<8xf32>, %s: tensor<f32>",
            "tensor<8xf32>",
            "%0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8xf32>\n"
            "%1 = stablehlo.multiply %x, %0 : tensor<8xf32>\nreturn %1 : tensor<8xf32>",
        ),
    )
    outputs = program.call(callee, [value, scale], [value.type], [0, 1])
    loaded = rt.load(program.text(*outputs), place=True, argument_names=["x", "s"])
    elsewhere = jax.device_put(X, jax.devices()[5])
    for x, s in ((X, 2), (jax.numpy.asarray(X), 2.0), (elsewhere, np.float32(2)), (list(X), 2.0)):
        np.testing.assert_array_equal(loaded(x, s)[0], X * 2)
    np.testing.assert_array_equal(loaded(X.astype(np.float64), 2.0)[0], X * 2)
    np.testing.assert_array_equal(elsewhere, X)
    with pytest.raises(rt.ArgumentError, match=r"s must be float32\[\], but is complex128\[\]"):
        loaded(X, 2j)
    with pytest.raises(rt.ArgumentError, match=r"x must be float32\[8\], but is int"):
        loaded(np.arange(8), 2.0)
    with pytest.raises(rt.ArgumentError, match=r"x must be .* but is <U"):
        loaded("text", 2.0)


def call_text(donated=(), argument_donated=False, use_again=False, inputs=1, outputs=None):
    program = ProgramText()
    value = program.argument(on_first("8xf32", [0, 1]), argument_donated)
    callee = program.module("f", affine("8xf32", 2.0))
    (result,) = program.call(
        callee, [value] * inputs, [outputs or value.type], [0, 1], donated=donated
    )
    if use_again:
        (result,) = program.call(callee, [value], [value.type], [0, 1])
    return program.text(result)


REFUSED = {
    r"needs 2 devices, but got 1": lambda: rt.load(pipeline(1), jax.devices()[:1]),
    r"a device is listed twice": lambda: rt.load(pipeline(1), [jax.devices()[0]] * 2),
    r"argument_names has 2 entries, but the program has 1": lambda: rt.load(
        pipeline(), argument_names=["a", "b"]
    ),
    r"not a readable IFRT program": lambda: rt.load("module {"),
    r"one function with the attribute ifrt.function, found 0": lambda: rt.load("module {}"),
    r"requires the same input size": lambda: rt.load(call_text(inputs=2)),
    r"requires the same global shape": lambda: rt.load(
        call_text(outputs=on_first("4xf32", [0, 1]))
    ),
    r"f does not compile": lambda: rt.load(
        call_text()
        .replace("stablehlo.multiply %x, %s", "stablehlo.custom_call @nothing(%x)")
        .replace(
            "custom_call @nothing(%x) : tensor<8xf32>",
            "custom_call @nothing(%x) : (tensor<8xf32>) -> tensor<8xf32>",
        )
    ),
}


@pytest.mark.parametrize("message", REFUSED)
def test_refused_at_loading(message):
    with pytest.raises(rt.LoadError, match=message):
        REFUSED[message]()


def test_donation_is_checked_at_loading():
    for text in (
        call_text(donated=[0]),
        call_text(donated=[0], argument_donated=True, use_again=True),
    ):
        with pytest.raises(rt.LoadError, match=r"donate"):
            rt.load(text)


def test_host_callbacks_on_several_devices_are_refused():
    text = call_text().replace(
        "stablehlo.multiply %x, %s : tensor<8xf32>",
        "stablehlo.custom_call @xla_ffi_python_cpu_callback(%x) {api_version = 4 : i32} : "
        "(tensor<8xf32>) -> tensor<8xf32>",
    )
    with pytest.raises(rt.LoadError, match=r"fragment f calls back to the host .* 2 devices"):
        rt.load(text)
