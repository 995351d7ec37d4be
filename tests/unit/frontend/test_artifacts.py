"""Labels survive in artifacts, which run anywhere and can be partitioned later."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export, lax
from jax.sharding import Mesh

import mpmd
from mpmd.dialect._jaxlib import ir
from mpmd.frontend.composites import restore_labels
from mpmd.frontend.partition import parse
from tests.unit.frontend.labelled import assert_same, calls, labels

W = {
    "a": np.linspace(-1, 1, 16, dtype=np.float32).reshape(4, 4),
    "b": np.linspace(-2, 1, 16, dtype=np.float32).reshape(4, 4),
}
XS = np.linspace(-1, 1, 24, dtype=np.float32).reshape(3, 2, 4)


@pytest.fixture(scope="module")
def config():
    devices = np.array(jax.devices())
    topology = {"m0": Mesh(devices[:2], ("x",)), "m1": Mesh(devices[2:4], ("x",))}
    return mpmd.make_config(topology, {"a": "m0", "b": "m1"})


def named(fn, name):
    return mpmd.named_computation(fn, name=name)


def loss(w, x):
    h = named(lambda x, w: jnp.tanh(x @ w), "a")(x, w["a"])
    return jnp.sum(named(lambda h, w: h @ w, "b")(h, w["b"]) ** 2)


def step(w, xs, unused):
    def total(w):
        return sum(mpmd.call(loss, call_counter=i)(w, xs[i]) for i in range(3))

    value, g = jax.value_and_grad(total)(w)
    return value, jax.tree.map(lambda w, g: w - 0.1 * g, w, g)


def restored(fn, *args):
    module = parse(export.export(jax.jit(fn))(*args).mlir_module())
    with module.context, ir.Location.unknown(module.context):
        restore_labels(module.operation)
        assert module.operation.verify()
    return str(module)


def test_a_saved_artifact_is_partitioned_later(config):
    saved = export.export(jax.jit(step))(W, XS, 1.0).serialize()
    artifact = export.deserialize(saved)
    got = mpmd.partition(artifact, config).compile()(W, XS, 1.0)
    assert_same(got, jax.jit(step)(W, XS, 1.0))


def test_labels_are_composites_and_run_anywhere():
    artifact = export.export(jax.jit(step))(W, XS, 1.0)
    text = artifact.mlir_module()
    assert (
        'stablehlo.composite "mpmd.named_computation"' in text
        and 'composite_attributes = {name = "b", transpose_count = 1 : i32}' in text
        and 'composite_attributes = {call_counter = 2 : i32, name = "loss"}' in text
    )
    assert_same(artifact.call(W, XS, 1.0), jax.jit(step)(W, XS, 1.0))


def test_plain_lowering_has_no_composites():
    assert "composite" not in jax.jit(step).lower(W, XS, 1.0).as_text()


def test_restored_labels():
    text = restored(step, W, XS, 1.0)
    assert labels(text) == [("a", 0), ("b", 0), ("b", 1), ("a", 1)]
    assert [counter for _, counter in calls(text)] == [0, 1, 2, 2, 1, 0]
    assert "composite" not in text and "func.call" not in text


def test_restored_marks():
    def f(x):
        x = mpmd.broadcast(named(jnp.sin, "a")(x))
        return mpmd.reduce(mpmd.named_tensor(x + x, "t"))

    text = restored(f, XS)
    assert "mpmd.broadcast" in text and "mpmd.reduce" in text and "mpmd.named_tensor" in text
    assert "composite" not in text and text.count("func.func") == 1


def test_hidden_labels_are_inlined():
    """In a loop inside a label, and a call inside a label."""

    def f(x):
        def first(x):
            inner = mpmd.call(lambda x: named(jnp.cos, "c")(mpmd.named_tensor(x, "t")))
            return lax.scan(lambda c, _: (inner(named(jnp.sin, "a")(c)), None), x, length=2)[0]

        return named(lambda x: mpmd.call(first)(x), "a")(x)

    text = restored(f, XS)
    assert labels(text) == [("a", 0)]
    assert "composite" not in text and "func.call" not in text and not calls(text)


@pytest.mark.parametrize("wrap", [lambda f: f, mpmd.call])
def test_label_in_a_loop_is_refused(wrap):
    def f(x):
        body = wrap(named(jnp.sin, "a"))
        return lax.scan(lambda c, _: (body(c), None), x, length=2)[0]

    with pytest.raises(
        mpmd.errors.LabelError, match=r"named_computation 'a' inside a (stablehlo.while|loop)"
    ):
        restored(f, XS)


def test_partition_an_artifact(config):
    lowered = mpmd.partition(export.export(jax.jit(step))(W, XS, 1.0), config)
    assert lowered.function_mesh_assignment.output_meshes == ("m1", {"a": "m0", "b": "m1"})
    assert_same(lowered.compile()(W, XS, 1.0), jax.jit(step)(W, XS, 1.0))


@pytest.mark.parametrize("form", ["text", "bytecode", "module"])
def test_partition_a_module(config, form):
    text = mpmd.jit(step, config).lower(W, XS, 1.0).as_text("stablehlo")
    module = parse(text)
    source = {"text": text, "bytecode": _bytecode(module), "module": module}[form]
    lowered = mpmd.partition(source, config)
    assert lowered.function_mesh_assignment.input_meshes == ("m0", "m1", "m0")
    want, _ = jax.tree.flatten(jax.jit(step)(W, XS, 1.0))
    assert_same(lowered.compile()(W["a"], W["b"], XS), tuple(want))


def _bytecode(module):
    import io

    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        ("nonsense", mpmd.errors.PartitionError, "this is no module"),
        (b"\x00\x01", mpmd.errors.PartitionError, "this is no module"),
        ("func.func @f() { return }", mpmd.errors.PartitionError, "no function main"),
        (
            "func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> { return %a : tensor<?xf32> }",
            mpmd.errors.PartitionError,
            "without a fixed shape",
        ),
        ("func.func @main(%a: index) { return }", mpmd.errors.PartitionError, "no tensor: index"),
        (3, TypeError, "needs an exported function, an ir.Module, text or bytecode, got int"),
    ],
)
def test_what_cannot_be_partitioned(config, source, error, message):
    with pytest.raises(error, match=message):
        mpmd.partition(source, config)


def test_artifact_for_two_platforms_is_refused(config):
    artifact = export.export(jax.jit(loss), platforms=("cpu", "cuda"))(W, XS[0])
    with pytest.raises(mpmd.errors.PartitionError, match="exported for cpu, cuda"):
        mpmd.partition(artifact, config)


def test_artifact_with_symbolic_shapes_is_refused(config):
    shape = export.symbolic_shape("n, 4")
    x = jax.ShapeDtypeStruct(shape, np.float32)
    artifact = export.export(jax.jit(loss))(W, x)
    with pytest.raises(mpmd.errors.PartitionError, match="symbolic shapes"):
        mpmd.partition(artifact, config)
