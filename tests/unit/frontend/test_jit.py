"""`mpmd.jit` takes what `jax.jit` takes, gives what it gives, and says where things are."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import mpmd
from tests.unit.frontend.labelled import assert_same

W = {
    "a": np.linspace(-1, 1, 16, dtype=np.float32).reshape(4, 4),
    "b": np.linspace(-2, 1, 16, dtype=np.float32).reshape(4, 4),
}
X = np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4)


@pytest.fixture(scope="module")
def topology():
    devices = np.array(jax.devices())
    return {"m0": Mesh(devices[:2], ("x",)), "m1": Mesh(devices[2:4], ("x",))}


@pytest.fixture(scope="module")
def config(topology):
    return mpmd.make_config(topology, {"a": "m0", "b": "m1"})


def forward(w, x):
    h = mpmd.named_computation(lambda x, w: jnp.tanh(x @ w), name="a")(x, w["a"])
    return mpmd.named_computation(lambda h, w: h @ w, name="b")(h, w["b"])


def train(w, x):
    loss, g = jax.value_and_grad(lambda w: jnp.sum(forward(w, x) ** 2))(w)
    return jax.tree.map(lambda w, g: w - 0.1 * g, w, g), loss


def test_equals_jax_jit_and_feeds_itself(config):
    step, plain = mpmd.jit(train, config), jax.jit(train)
    w, loss = step(W, X)
    assert_same((w, loss), plain(W, X))
    assert_same(step(w, X), plain(*[plain(W, X)[0], X]), rtol=1e-4)
    assert set(w["a"].sharding.mesh.devices.flat) == set(jax.devices()[:2])


def test_compiles_once_for_each_signature(config):
    traces = []

    def f(w, x):
        traces.append(x.shape)
        return forward(w, x)

    step = mpmd.jit(f, config)
    for x in (X, jnp.asarray(X), X[:1], X, X.astype(np.float64)):
        step(W, x)
    assert traces == [(2, 4), (1, 4)]
    step.clear_cache()
    assert_same(step(W, X), jax.jit(forward)(W, X))


def test_stages(config, topology):
    lowered = mpmd.jit(train, config, override_func_name="my_step").lower(W, X)
    assert "mpmd.named_computation" in lowered.as_text("stablehlo")
    assert "topology = #mpmd.topology" in lowered.as_text("stablehlo")
    assert "my_step" in lowered.as_text("stablehlo")
    assert "mpmd.mesh_tensor" in lowered.as_text("mpmd")
    assert "ifrt.Call" in lowered.as_text() and lowered.as_text() == lowered.as_text("ifrt")
    with pytest.raises(ValueError, match="dialect must be 'ifrt', 'mpmd' or 'stablehlo', got 'x'"):
        lowered.as_text("x")
    meshes = lowered.function_mesh_assignment
    assert meshes.input_meshes == ({"a": "m0", "b": "m1"}, "m0")
    assert meshes.output_meshes == ({"a": "m0", "b": "m1"}, "m1")
    specs = lowered.function_named_shardings
    assert specs.input_specs[0]["b"].mesh == topology["m1"]
    assert mpmd.mesh_names(specs.output_specs, topology) == meshes.output_meshes
    compiled = lowered.compile()
    assert compiled.input_shardings == (specs.input_specs, {})
    assert compiled.output_shardings == specs.output_specs
    placed = jax.device_put((W, X), specs.input_specs)
    assert_same(compiled(*placed), jax.jit(train)(W, X))
    assert set(compiled.memory_analysis()) == set(compiled.cost_analysis()) == {"m0", "m1"}


def test_lowers_for_types(config):
    types = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), (W, X))
    assert_same(mpmd.jit(train, config).lower(*types).compile()(W, X), jax.jit(train)(W, X))


def test_odd_results(config):
    """An argument returned as it is, a value returned twice, constants, None, and no use of one."""

    def f(w, x, y, unused):
        h = forward(w, x)
        return h, h, y, {"c": np.arange(3), "n": None}, 2.5

    assert_same(mpmd.jit(f, config)(W, X, 7, X), jax.jit(f)(W, X, 7, X))


def test_arguments_of_all_kinds(config):
    def f(w, x, n, scale, flag, *, shift):
        y = forward(w, x * scale) + n + shift
        return jnp.where(flag, y, -y), n + 1

    elsewhere = jax.device_put(X, jax.devices()[7])
    sharded = jax.device_put(X, NamedSharding(Mesh(jax.devices()[4:6], ("q",)), PartitionSpec("q")))
    for x in (X, X.tolist() and jnp.asarray(X), elsewhere, sharded):
        args = (W, x, np.int32(3), 2.0, True)
        assert_same(mpmd.jit(f, config)(*args, shift=np.float32(1)), jax.jit(f)(*args, shift=1.0))


def test_donation(config):
    w = jax.device_put(
        W, mpmd.jit(train, config).lower(W, X).function_named_shardings.input_specs[0]
    )
    new, _ = mpmd.jit(train, config, donate_argnums=0)(w, X)
    assert w["a"].is_deleted() and w["b"].is_deleted()
    assert_same(new, jax.jit(train)(W, X)[0])


def test_donation_by_name(config):
    step = mpmd.jit(train, config, donate_argnames="w")
    w, _ = step(W, X)
    step(w, X)
    assert w["a"].is_deleted()


def test_static_arguments(config):
    def f(w, x, power, mode="up"):
        return forward(w, x) ** power + (1 if mode == "up" else -1)

    step = mpmd.jit(f, config, static_argnums=2, static_argnames="mode")
    assert_same(step(W, X, 2), forward(W, X) ** 2 + 1)
    assert_same(step(W, X, 3, mode="down"), forward(W, X) ** 3 - 1)
    assert_same(step.lower(W, X, 2).compile()(W, X), forward(W, X) ** 2 + 1)


def test_random_keys(config):
    def f(key, x):
        draw = mpmd.named_computation(
            lambda key, x: (jax.random.split(key)[0], x + jax.random.normal(key, x.shape)), name="a"
        )
        key, y = draw(key, x)
        return key, mpmd.named_computation(jnp.sin, name="b")(y)

    for key in (jax.random.key(3), jax.random.PRNGKey(3), jax.random.key(3, impl="rbg")):
        got = mpmd.jit(f, config)(key, X)
        assert got[0].dtype == key.dtype
        assert_same(got, jax.jit(f)(key, X))


def test_shardings_over_meshes_of_different_sizes():
    devices = np.array(jax.devices())
    topology = {"m0": Mesh(devices[:2], ("x",)), "m1": Mesh(devices[2:6], ("x",))}
    config = mpmd.make_config(
        topology, {"a": "m0", "b": "m1"}, read_input_output_mesh_from_shardings=True
    )
    shard = {name: NamedSharding(mesh, PartitionSpec("x")) for name, mesh in topology.items()}
    step = mpmd.jit(
        forward,
        config,
        in_shardings=({"a": shard["m0"], "b": shard["m1"]}, None),
        out_shardings=NamedSharding(topology["m1"], PartitionSpec(None, "x")),
    )
    out = step(W, X)
    assert_same(out, jax.jit(forward)(W, X))
    assert out.sharding.is_equivalent_to(step._out_shardings, 2)
    specs = step.lower(W, X).function_named_shardings.input_specs
    assert specs[0]["a"].is_equivalent_to(shard["m0"], 2)
    assert specs[0]["b"].is_equivalent_to(shard["m1"], 2)


def test_assigned_inputs_and_outputs(topology):
    config = mpmd.make_config(
        topology,
        {"a": "m0", "b": "m1"},
        input_mesh_assignment=({"a": None, "b": "m1"}, "m0"),
        output_mesh_assignment="m1",
    )
    lowered = mpmd.jit(forward, config).lower(W, X)
    assert lowered.function_mesh_assignment.input_meshes == ({"a": "m0", "b": "m1"}, "m0")
    assert lowered.function_mesh_assignment.output_meshes == "m1"


def test_inside_other_transformations_it_is_the_plain_function(config):
    step = mpmd.jit(forward, config)
    assert_same(jax.jit(step)(W, X), forward(W, X))
    assert_same(
        jax.vmap(step, (None, 0))(W, X[:, None]), jax.vmap(forward, (None, 0))(W, X[:, None])
    )
    assert step.eval_shape(W, X) == jax.eval_shape(step, W, X) == jax.eval_shape(forward, W, X)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ({"a": W["a"], "b": W["b"][:3]}, X),
            r"w\['b'\] must have the shape \(4, 4\), got \(3, 4\)",
        ),
        ((W, X.astype(np.int32)), "^x must have the type float32, got int32"),
        (({"a": W["a"]}, X), r"missing: w\['b'\]"),
        ((W, X, 3), r"not expected: args\[2\]"),
        ((W, [X]), r"missing: x; not expected: args\[1\]\[0\]"),
        ((W, "text"), "^x is no array"),
    ],
)
def test_wrong_arguments_are_named(config, args, message):
    compiled = mpmd.jit(forward, config).lower(W, X).compile()
    with pytest.raises(mpmd.errors.ArgumentError, match=message):
        compiled(*args)


def test_wrong_options(config, topology):
    sharding = NamedSharding(topology["m0"], PartitionSpec("x"))
    other = NamedSharding(Mesh(jax.devices()[6:8], ("x",)), PartitionSpec())
    reads = mpmd.make_config(
        topology, {"a": "m0", "b": "m1"}, read_input_output_mesh_from_shardings=True,
        input_mesh_assignment=("m0", "m0"),
    )  # fmt: skip
    for options, which, message in [
        (
            {"in_shardings": (None, "x")},
            config,
            "in_shardings of x must be a NamedSharding or None",
        ),
        ({"in_shardings": (sharding,)}, config, "in_shardings is not a prefix of .* arguments"),
        ({"out_shardings": (sharding, sharding)}, config, "out_shardings is not a prefix of"),
        ({"in_shardings": (None, other)}, reads, "in_shardings of x is over a mesh that is not in"),
        (
            {"in_shardings": (NamedSharding(topology["m1"], PartitionSpec()), None)},
            reads,
            r"puts w\['a'\] on the mesh 'm1', but the configuration assigns it to 'm0'",
        ),
        (
            {"in_shardings": (NamedSharding(topology["m0"], PartitionSpec(None, None, "x")), None)},
            config,
            r"in_shardings of w\['a'\] does not fit",
        ),
    ]:
        with pytest.raises(ValueError, match=message):
            mpmd.jit(forward, which, **options).lower(W, X)
    with pytest.raises(TypeError, match=r"made by mpmd\.make_config"):
        mpmd.jit(forward, topology)
    with pytest.raises(TypeError, match="needs a function"):
        mpmd.jit(3, config)


def test_label_without_a_mesh(topology):
    config = mpmd.make_config(topology, {"a": "m0"})
    with pytest.raises(mpmd.errors.PartitionError, match=r"'b'|\"b\"|\bb\b"):
        mpmd.jit(forward, config).lower(W, X)


def test_values_of_an_outer_trace_are_refused(config):
    def outer(x):
        return mpmd.jit(lambda w: forward(w, x), config)(W)

    with pytest.raises(ValueError, match="values of a trace around"):
        jax.jit(outer)(X)


def test_ordered_effects_are_refused(config):
    def f(w, x):
        jax.debug.print("{x}", x=x, ordered=True)
        return forward(w, x)

    with pytest.raises(ValueError, match="cannot keep the order"):
        mpmd.jit(f, config).lower(W, X)
