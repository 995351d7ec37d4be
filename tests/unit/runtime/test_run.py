"""Whole programs from text: numbers, donation, order of devices, transfers."""

import jax
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import mpmd.runtime as rt
from tests.unit.runtime.programs import (
    ProgramText,
    affine,
    array,
    function,
    mean_plus_one,
    on_first,
)

X = np.arange(8, dtype=np.float32)
ORDERS = {
    "in order": [0, 1, 2, 3, 4, 5, 6, 7],
    "reversed": [7, 6, 5, 4, 3, 2, 1, 0],
    "not from zero": [3, 6, 1, 4],
}


def pick(order):
    return [jax.devices()[index] for index in order]


def pipeline(width: int = 2, depth: int = 2, donated: bool = False, scale: float = 2.0) -> str:
    """x -> 2x + 1 on each of `depth` meshes of `width` devices; every stage is the same module."""
    program = ProgramText()
    meshes = [range(start * width, (start + 1) * width) for start in range(depth)]
    value = program.argument(on_first("8xf32", meshes[0]), donated)
    for index, mesh in enumerate(meshes):
        callee = program.module(f"p{index}_s{index}", affine("8xf32", scale, 1.0))
        if index:
            (value,) = program.copy([value], [on_first("8xf32", mesh)])
        uses_up = [0] if donated or index else []
        (value,) = program.call(
            callee, [value], [value.type], mesh, donated=uses_up, mesh=f"m{index}"
        )
    return program.text(value)


def put(program, *values):
    return [
        jax.device_put(value, sharding)
        for value, sharding in zip(values, program.input_shardings, strict=True)
    ]


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
def test_a_pipeline_over_any_devices(order):
    devices = pick(order)
    program = rt.load(pipeline(), devices)
    (x,) = put(program, X)
    (y,) = program(x)
    np.testing.assert_array_equal(y, (X * 2 + 1) * 2 + 1)
    assert list(y.sharding.mesh.devices.flat) == devices[2:4]
    assert [shard.device for shard in y.addressable_shards] == devices[2:4]
    np.testing.assert_array_equal(x, X)


@pytest.mark.parametrize("width", [1, 2])
def test_equal_stages_are_compiled_once(width):
    text = pipeline(width, depth=4, donated=True, scale=2.25)  # code that no other test uses
    first, second = [], []
    program = rt.load(text, progress=first.append)
    assert [progress.rebound for progress in first] == [False, True, True, True]
    assert [progress.done for progress in first] == [1, 2, 3, 4]
    rt.load(text, pick(ORDERS["reversed"]), progress=second.append)
    assert [progress.rebound for progress in second] == [True] * 4
    assert program.fragments == ("p0_s0", "p1_s1", "p2_s2", "p3_s3")


def test_devices_in_another_order_within_a_mesh():
    """The array type, not the ids, says which shard is where."""
    program = ProgramText()
    value = program.argument(on_first("8xf32", [1, 0]))
    callee = program.module("f", affine("8xf32", 3.0))
    (value,) = program.call(callee, [value], [on_first("8xf32", [1, 0])], [1, 0])
    (value,) = program.copy([value], [on_first("8xf32", [2, 3])])
    loaded = rt.load(program.text(value))
    (y,) = loaded(*put(loaded, X))
    np.testing.assert_array_equal(y, X * 3)
    first = next(s for s in loaded(*put(loaded, X))[0].addressable_shards if s.device.id == 2)
    np.testing.assert_array_equal(first.data, X[:4] * 3)


def test_donated_arguments_are_deleted_and_others_are_not():
    loaded = rt.load(pipeline(donated=True))
    (x,) = put(loaded, X)
    np.testing.assert_array_equal(loaded(x)[0], X * 4 + 3)
    assert x.is_deleted()
    with pytest.raises(rt.ArgumentError, match=r"argument 0 was deleted, or donated"):
        loaded(x)
    loaded = rt.load(pipeline())
    (x,) = put(loaded, X)
    for _ in range(2):
        np.testing.assert_array_equal(loaded(x)[0], X * 4 + 3)


def test_a_donated_argument_without_a_use_is_deleted():
    program = ProgramText()
    kept = program.argument(array("8xf32", [0]))
    program.argument(array("8xf32", [1]), donated=True)
    callee = program.module("f", affine("8xf32", 2.0))
    loaded = rt.load(program.text(*program.call(callee, [kept], [kept.type], [0])))
    x, unused = put(loaded, X, X)
    loaded(x, unused)
    assert unused.is_deleted()
    assert not x.is_deleted()


@pytest.mark.parametrize("donated", [False, True])
def test_an_argument_returned_unchanged(donated):
    program = ProgramText()
    value = program.argument(on_first("8xf32", [0, 1]), donated)
    other = program.argument(array("8xf32", [2]), donated)
    loaded = rt.load(program.text(value, other))
    x, z = put(loaded, X, X + 1)
    y, w = loaded(x, z)
    assert x.is_deleted() == z.is_deleted() == donated
    if not donated:
        x.delete()
        z.delete()
    np.testing.assert_array_equal(y, X)
    np.testing.assert_array_equal(w, X + 1)


def test_results_never_share_an_array():
    program = ProgramText()
    value = program.argument(on_first("8xf32", [0, 1]), donated=True)
    callee = program.module("f", affine("8xf32", 2.0))
    (twice,) = program.call(callee, [value], [value.type], [0, 1])
    loaded = rt.load(program.text(value, twice, twice, value))
    (x,) = put(loaded, X)
    first, second, third, fourth = loaded(x)
    assert x.is_deleted()
    second.delete()
    first.delete()
    np.testing.assert_array_equal(third, X * 2)
    np.testing.assert_array_equal(fourth, X)


def test_one_array_for_two_arguments():
    def add(donated):
        program = ProgramText()
        arguments = [program.argument(array("8xf32", [0]), donated) for _ in range(2)]
        tensor = "tensor<8xf32>"
        body = f"%0 = stablehlo.add %x, %y : {tensor}\nreturn %0 : {tensor}"
        callee = program.module("f", function(f"%x: {tensor}, %y: {tensor}", tensor, body))
        uses_up = [0] if donated else []
        return rt.load(
            program.text(
                *program.call(callee, arguments, [arguments[0].type], [0], donated=uses_up)
            ),
            argument_names=["params['w']", "batch"],
        )

    loaded = add(donated=False)
    x = put(loaded, X, X)[0]
    np.testing.assert_array_equal(loaded(x, x)[0], X + X)
    loaded = add(donated=True)
    x = put(loaded, X, X)[0]
    with pytest.raises(rt.ArgumentError, match=r"params\['w'\] and batch are the same array"):
        loaded(x, x)
    np.testing.assert_array_equal(x, X)


def test_io_aliases_reuse_memory():
    program = ProgramText()
    value = program.argument(on_first("8xf32", [0, 1]), donated=True)
    callee = program.module("f", affine("8xf32", 5.0))
    outputs = program.call(callee, [value], [value.type], [0, 1], aliases=[(0, 0)])
    loaded = rt.load(program.text(*outputs))
    # Not from numpy, whose memory JAX may use in place and then cannot donate.
    x = jax.jit(lambda x: x + 1, out_shardings=loaded.input_shardings[0])(X - 1)
    before = [shard.data.unsafe_buffer_pointer() for shard in x.addressable_shards]
    (y,) = loaded(x)
    np.testing.assert_array_equal(y, X * 5)
    assert x.is_deleted()
    assert [shard.data.unsafe_buffer_pointer() for shard in y.addressable_shards] == before


SIDES = [
    ([0, 1], "2x1 to [0] on 2"),
    ([0, 1], "1x2 to [0] on 2"),
    ([0, 1], "1x1 to [0] on 2"),
    ([1], "1x1 to [0] on 1"),
    ([0, 1, 2, 3], "2x2 to [1, 0] on 2x2"),
    ([2, 0, 1, 3], "2x2 to [0, 1] on 2x2"),
    ([0, 1, 2, 3], "1x2 to [1, 0] on 2x2"),
    ([0, 1, 2], "3x1 to [0] on 3"),
]
TARGETS = [*SIDES, ([4, 5], "2x1 to [0] on 2"), ([4, 5, 6, 7], "4x1 to [1, 0] on 2x2")]


@pytest.mark.parametrize("source", SIDES, ids=lambda side: f"{side[0]} {side[1]}")
def test_reshard_from_anywhere_to_anywhere(source):
    values = np.arange(72, dtype=np.float32).reshape(12, 6)
    program = ProgramText()
    value = program.argument(array("12x6xf32", *source))
    targets = [array("12x6xf32", *target) for target in TARGETS]
    results = [program.reshard([value], [target])[0] for target in targets]
    loaded = rt.load(program.text(*results))
    outputs = loaded(*put(loaded, values))
    for output, target, sharding in zip(outputs, TARGETS, loaded.output_shardings, strict=True):
        np.testing.assert_array_equal(output, values, err_msg=str(target))
        assert output.sharding == sharding
        for shard in output.addressable_shards:
            np.testing.assert_array_equal(shard.data, values[shard.index], err_msg=str(target))


def test_many_arrays_in_one_transfer():
    program = ProgramText()
    values = [program.argument(on_first("8xf32", [0, 1])) for _ in range(3)]
    moved = program.copy(values, [on_first("8xf32", [2, 3])] * 3)
    loaded = rt.load(program.text(*moved))
    outputs = loaded(*put(loaded, X, X + 1, X + 2))
    for index, output in enumerate(outputs):
        np.testing.assert_array_equal(output, X + index)


def test_shardings_of_the_caller_are_kept():
    mesh = Mesh(np.array(jax.devices()[:2]), ("data",))
    there = Mesh(np.array(jax.devices()[2:4]), ("data",))
    source = NamedSharding(mesh, PartitionSpec("data"))
    target = NamedSharding(there, PartitionSpec("data"))
    loaded = rt.load(pipeline(), input_shardings=[source], output_shardings=[target])
    assert loaded.input_shardings == (source,)
    (y,) = loaded(jax.device_put(X, source))
    assert y.sharding is target
    wrong = NamedSharding(there, PartitionSpec())
    with pytest.raises(rt.LoadError, match=r"the sharding .* for a result disagrees"):
        rt.load(pipeline(), output_shardings=[wrong])
    with pytest.raises(rt.LoadError, match=r"the sharding .* for w disagrees"):
        rt.load(pipeline(), argument_names=["w"], input_shardings=[target])


def shardy_program() -> str:
    """A fragment in the form in which the C++ partitioner in jaxlib leaves it."""
    program = ProgramText()
    devices = range(4)
    w = program.argument(array("4x8xf32", devices, "2x2 to [1, 0] on 2x2"), donated=True)
    x = program.argument(array("16x4xf32", devices, "4x1 to [0] on 4"))
    rows = '#sdy.sharding<@mesh, [{"x", "y"}, {}]>'
    weights = '#sdy.sharding<@mesh, [{"y"}, {"x"}]>'
    callee = program.module(
        "p0_s0.main",
        'sdy.mesh @mesh = <["x"=2, "y"=2]>\n'
        + function(
            f"%x: tensor<16x4xf32> {{sdy.sharding = {rows}}}, "
            f"%w: tensor<4x8xf32> {{jax.buffer_donor = true, sdy.sharding = {weights}}}",
            f"tensor<16x8xf32> {{sdy.sharding = {rows}}}, "
            f"tensor<4x8xf32> {{sdy.sharding = {weights}}}",
            "%0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : "
            "(tensor<16x4xf32>, tensor<4x8xf32>) -> tensor<16x8xf32>\n"
            "%1 = stablehlo.add %w, %w : tensor<4x8xf32>\n"
            "return %0, %1 : tensor<16x8xf32>, tensor<4x8xf32>",
        ),
    )
    outputs = [array("16x8xf32", devices, "4x1 to [0] on 4"), w.type]
    y, v = program.call(callee, [x, w], outputs, devices, donated=[1], mesh="m0")
    return program.text(y, v)


def test_several_axes_and_shardy_attributes():
    loaded = rt.load(shardy_program(), pick(ORDERS["not from zero"]))
    rng = np.random.default_rng(0)
    values = [rng.normal(size=size).astype(np.float32) for size in ((4, 8), (16, 4))]
    arrays = put(loaded, *values)
    product, double = loaded(*arrays)
    np.testing.assert_allclose(product, values[1] @ values[0], rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(double, values[0] * 2)
    assert [a.is_deleted() for a in arrays] == [True, False]


def test_collectives_and_bitwise_repeats():
    program = ProgramText()
    value = program.argument(on_first("8xf32", range(8)))
    callee = program.module("mean", mean_plus_one(8))
    (value,) = program.call(callee, [value], [value.type], range(8))
    loaded = rt.load(program.text(value))
    values = np.random.default_rng(1).normal(size=8).astype(np.float32)
    outputs = [np.asarray(loaded(*put(loaded, values))[0]) for _ in range(20)]
    np.testing.assert_allclose(outputs[0], np.full(8, values.mean() + 1), rtol=1e-5)
    assert all(output.tobytes() == outputs[0].tobytes() for output in outputs)


def test_fragments_with_other_shardings_than_the_program_are_refused():
    text = shardy_program().replace("2x2 to [1, 0] on 2x2", "2x2 to [0] on 4")
    for _ in range(2):  # the second time the code is known
        with pytest.raises(rt.LoadError, match=r"argument 1 of fragment .* with another sharding"):
            rt.load(text)
