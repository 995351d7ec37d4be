"""Depth and threads: limits of executions in flight, order, overlap, lanes that merge."""

import threading
import time

import jax
import numpy as np

import mpmd.runtime as rt
from mpmd.runtime import lanes
from tests.unit.runtime.programs import ProgramText, affine, array, mean_plus_one, on_first
from tests.unit.runtime.test_run import X, pick, pipeline, put


def collective_chain(meshes, length: int) -> str:
    """On each mesh, `length` programs in a row that make all its devices meet."""
    program = ProgramText()
    values = [program.argument(on_first("8xf32", mesh)) for mesh in meshes]
    callee = program.module("mean", mean_plus_one(8))
    for _ in range(length):
        for index, mesh in enumerate(meshes):
            (values[index],) = program.call(
                callee, [values[index]], [values[index].type], mesh, mesh=f"m{index}"
            )
    return program.text(*values)


def run_with_deadline(work, seconds=120):
    """Runs `work` in a thread, so that a hang fails the test instead of the whole run."""
    failures = []

    def guarded():
        try:
            work()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=guarded, daemon=True)
    thread.start()
    thread.join(seconds)
    assert not thread.is_alive(), "hangs"
    if failures:
        raise failures[0]


def test_long_chains_of_collectives_do_not_hang():
    """JAX 0.10 hangs after some 35 calls that nobody waits for, if they are just issued."""
    length, steps = 60, 3
    program = rt.load(collective_chain([(0, 1), (2, 3), (4, 5), (6, 7)], length))

    def work():
        values = put(program, X, X + 1, X + 2, X + 3)
        for _ in range(steps):
            values = program(*values)
        for index, value in enumerate(values):
            expected = np.full(8, X.mean() + index + length * steps)
            np.testing.assert_allclose(value, expected, rtol=1e-5)

    run_with_deadline(work)


def test_executions_in_flight_are_limited():
    program = rt.load(collective_chain([(0, 1)], 30))
    program(*put(program, X))
    lane = lanes.REGISTRY.lane(jax.devices()[0])
    assert len(lane.in_flight) <= lane.limit


def test_threads_and_programs_that_share_devices_in_opposite_orders():
    """Programs a and b use the same meshes in opposite order; one more spans both meshes."""
    forward = rt.load(pipeline(), name="a")
    backward = rt.load(pipeline(), pick([2, 3, 0, 1]), name="b")
    spanning = rt.load(collective_chain([(0, 1, 2, 3)], 3), name="c")
    errors = []

    def caller(program, expected, seed):
        rng = np.random.default_rng(seed)
        try:
            for _ in range(25):
                values = rng.integers(0, 9, 8).astype(np.float32)
                (y,) = program(*put(program, values))
                np.testing.assert_allclose(y, expected(values), rtol=1e-6)
        except BaseException as error:
            errors.append(error)

    def affine_twice(values):
        return values * 4 + 3

    def mean_thrice(values):
        return np.full(8, values.mean() + 3, np.float32)

    cases = [(forward, affine_twice), (backward, affine_twice), (spanning, mean_thrice)] * 2

    def work():
        threads = [
            threading.Thread(target=caller, args=(program, expected, seed), daemon=True)
            for seed, (program, expected) in enumerate(cases)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    run_with_deadline(work)
    assert not errors, errors[0]


def test_lanes_merge_when_a_later_program_overlaps():
    registry = lanes.Registry()
    devices = jax.devices()
    registry.prepare([devices[:2], devices[2:4]])
    assert registry.lane(devices[0]) is not registry.lane(devices[2])
    generation = registry.generation
    registry.prepare([devices[:2]])
    assert registry.generation == generation
    registry.prepare([devices[1:3]])
    merged = registry.lane(devices[0])
    assert all(registry.lane(device) is merged for device in devices[:4])
    assert registry.generation > generation
    registry.shutdown()


def test_a_program_survives_the_merging_of_its_lanes():
    first = rt.load(pipeline(), pick([4, 5, 6, 7]))
    (x,) = put(first, X)
    np.testing.assert_array_equal(first(x)[0], X * 4 + 3)
    rt.load(collective_chain([(0, 1, 2, 3)], 1), pick([4, 5, 6, 7]))
    np.testing.assert_array_equal(first(x)[0], X * 4 + 3)


def test_a_call_does_not_wait_for_values():
    """The caller goes on while up to the limit of executions are still at work."""
    size = 768
    program = ProgramText()
    value = program.argument(array(f"{size}x{size}xf32", [0]))
    tensor = f"tensor<{size}x{size}xf32>"
    body = "\n".join(
        f"%{i + 1} = stablehlo.dot_general %{i}, %{i}, contracting_dims = [1] x [0] : "
        f"({tensor}, {tensor}) -> {tensor}"
        for i in range(20)
    )
    callee = program.module(
        "work",
        f"func.func public @main(%0: {tensor}) -> {tensor} {{\n{body}\nreturn %20 : {tensor}\n}}",
    )
    outputs = program.call(callee, [value], [value.type], [0])
    loaded = rt.load(program.text(*outputs))
    (x,) = put(loaded, np.eye(size, dtype=np.float32))
    loaded(x)[0].block_until_ready()
    start = time.monotonic()
    (y,) = loaded(x)
    returned = time.monotonic() - start
    y.block_until_ready()
    assert returned < (time.monotonic() - start) / 2
    np.testing.assert_array_equal(y, x)


def test_values_are_freed_after_their_last_use():
    """A chain holds a bounded number of its intermediate arrays, however long it is."""
    length = 40
    program = ProgramText()
    value = program.argument(array("8xf32", [0]))
    callee = program.module("f", affine("8xf32", 1.0, 1.0))
    for _ in range(length):
        (value,) = program.call(callee, [value], [value.type], [0])
    loaded = rt.load(program.text(value))
    (x,) = put(loaded, X)
    seen = []
    tracks = loaded._current.tracks
    tracks[0].instructions.append(
        lambda frame: seen.append(sum(value is not None for value in frame.slots))
    )
    (y,) = loaded(x)
    np.testing.assert_array_equal(y, X + length)
    assert seen == [1]
    memory = loaded.memory_analysis()
    (mesh,) = memory.values()
    assert mesh.argument_bytes == mesh.output_bytes == 32
    assert mesh.peak_bytes < 6 * 32


def test_analyses_of_a_pipeline():
    program = rt.load(pipeline(depth=3))
    memory, cost = program.memory_analysis(), program.cost_analysis()
    assert list(memory) == list(cost) == ["m0", "m1", "m2"]
    assert memory["m0"].argument_bytes == 16
    assert memory["m1"].argument_bytes == 0
    assert memory["m2"].output_bytes == 16
    assert list(memory["m1"].fragments) == ["p1_s1"]
    assert [(c.calls, c.flops > 0) for c in cost["m1"].values()] == [(1, True)]
