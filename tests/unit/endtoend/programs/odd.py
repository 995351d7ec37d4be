"""Arguments, results and transformations that trip partitioners."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

import mpmd

from .dense import TWO, stage, weights
from .registry import Program, program


def two():
    return weights((8, 8), (8, 8), (4, 8))


def chain(w0, w1, x):
    return stage("b")(w1, stage("a")(w0, x))


@program
def argument_returned_unchanged():
    def fn(w0, w1, x):
        return chain(w0, w1, x), w0, x

    return Program(fn, tuple(two()), TWO)


@program
def value_returned_twice():
    def fn(w0, w1, x):
        out = chain(w0, w1, x)
        return out, (out, out.sum()), out

    return Program(fn, tuple(two()), TWO)


@program
def constants_as_outputs():
    def fn(w0, w1, x):
        return chain(w0, w1, x), jnp.zeros((2, 2)), 3, jnp.arange(4), np.float32(2.5)

    return Program(fn, tuple(two()), TWO)


@program
def unused_arguments():
    def fn(w0, unused, w1, x, flag):
        return chain(w0, w1, x)

    w0, w1, x = two()
    return Program(fn, (w0, {"deep": (jnp.ones(3), None)}, w1, x, True), TWO)


@program
def none_leaves_and_keywords():
    def fn(params, x, *, bias=None, extra=None):
        out = chain(params["w0"], params["w1"], x)
        return {"out": out if bias is None else out + bias, "none": None, "extra": extra}

    w0, w1, x = two()
    return Program(
        fn, ({"w0": w0, "w1": w1, "n": None}, x), TWO, kwargs={"bias": jnp.ones(8), "extra": None}
    )


@program
def scalars_and_numpy():
    def fn(w0, w1, x, lr, n, flag):
        return chain(w0, w1, x) * lr + n, flag

    w0, w1, x = two()
    return Program(fn, (np.asarray(w0), w1, np.asarray(x), 0.5, np.int32(3), np.bool_(True)), TWO)


@program
def static_argument():
    def fn(w0, w1, x, mode):
        out = chain(w0, w1, x)
        return out if mode == "plain" else -out

    return Program(fn, (*two(), "negated"), TWO, jit={"static_argnums": (3,)})


@program
def closure_and_captured_constant():
    table = np.linspace(0, 1, 8, dtype=np.float32)

    def fn(w0, w1, x):
        def loss(w0):
            scale = w0.sum()  # a tracer that the label closes over

            def inner(x):
                return jnp.tanh(x @ w0) * scale + table

            return jnp.sum(stage("b")(w1, mpmd.named_computation(inner, name="a")(x)) ** 2)

        return jax.value_and_grad(loss)(w0)

    return Program(fn, tuple(two()), TWO)


@program
def custom_vjp_inside():
    @jax.custom_vjp
    def clip_gradient(x):
        return x

    clip_gradient.defvjp(lambda x: (x, None), lambda _, g: (jnp.clip(g, -0.1, 0.1),))

    def fn(w0, w1, x):
        def loss(w):
            h = mpmd.named_computation(lambda w, x: clip_gradient(jnp.tanh(x @ w)), name="a")(
                w[0], x
            )
            return jnp.sum(stage("b")(w[1], h) ** 2)

        return jax.grad(loss)([w0, w1])

    return Program(fn, tuple(two()), TWO)


@program
def second_order():
    def fn(w0, w1, x):
        def loss(w0):
            return jnp.sum(chain(w0, w1, x) ** 2)

        return jax.grad(lambda w: jnp.sum(jax.grad(loss)(w) ** 2))(w0)

    return Program(fn, tuple(two()), TWO, rtol=1e-4)


@program
def forward_mode():
    def fn(w0, w1, x):
        return jax.jvp(lambda w: chain(w, w1, x), (w0,), (jnp.ones_like(w0),))

    return Program(fn, tuple(two()), TWO)


@program
def vmapped_labels():
    def fn(w0, w1, xs):
        return jax.vmap(lambda x: chain(w0, w1, x))(xs)

    w0, w1, x = two()
    return Program(fn, (w0, w1, jnp.stack([x, x + 1, -x])), TWO)


@program
def nested_labels():
    def fn(w0, w1, x):
        def outer(w, x):
            return mpmd.named_computation(lambda w, x: x @ w, name="inner")(w, x) + 1

        h = mpmd.named_computation(outer, name="a")(w0, x)
        return stage("b")(w1, h)

    return Program(fn, tuple(two()), {**TWO, "inner": "m0"})


@program
def named_tensor():
    def fn(w0, w1, x):
        h = mpmd.named_tensor(x @ w0, "a")
        return mpmd.named_tensor(h @ w1, "b")

    return Program(fn, tuple(two()), TWO)


@program
def broadcast_and_reduce():
    def fn(w0, w1, x):
        shared = mpmd.broadcast(x * 2)
        h0, h1 = stage("a")(w0, shared), stage("b")(w1, shared)
        return mpmd.reduce(h0.sum() + h1.sum()), h0, h1

    return Program(fn, tuple(two()), TWO)


@program
def symbolic_zero_gradients():
    def fn(w0, w1, x):
        def loss(w):
            h, unused = mpmd.named_computation(lambda w, x: (x @ w, (x @ w) * 2), name="a")(w[0], x)
            del unused
            return jnp.sum(stage("b")(w[1], h))

        return jax.grad(loss)([w0, w1])

    return Program(fn, tuple(two()), TWO)


@program
def everything_in_bf16():
    args = tuple(a.astype(jnp.bfloat16) for a in two())
    return Program(
        lambda *a: jax.grad(lambda w: chain(w, *a[1:]).sum())(a[0]), args, TWO, rtol=3e-2
    )


@program
def scalar_outputs_and_empty_trees():
    def fn(w0, w1, x):
        return {"loss": chain(w0, w1, x).sum(), "empty": (), "nothing": None}

    return Program(fn, tuple(two()), TWO)


@program
def inputs_and_outputs_assigned():
    return Program(
        chain,
        tuple(two()),
        TWO,
        config={"input_mesh_assignment": ("m0", "m1", "m0"), "output_mesh_assignment": "m1"},
    )


@program
def sharded_arguments_and_results():
    def shardings(topology):
        m0, m1 = topology["m0"], topology["m1"]
        return {
            "in_shardings": (
                NamedSharding(m0, PartitionSpec(None, "x")),
                NamedSharding(m1, PartitionSpec("x")),
                NamedSharding(m0, PartitionSpec("x")),
            ),
            "out_shardings": NamedSharding(m1, PartitionSpec("x", None)),
        }

    return Program(
        chain,
        tuple(two()),
        TWO,
        config={"input_mesh_assignment": ("m0", "m1", "m0"), "output_mesh_assignment": "m1"},
        jit=shardings,
    )


@program
def shardings_over_meshes_of_different_sizes():
    made = sharded_arguments_and_results()
    return Program(
        made.fn,
        made.args,
        TWO,
        {"m0": (("x", 4),), "m1": (("x", 2),)},
        config=made.config,
        jit=made.jit,
    )


@program
def two_axes_with_constraints_inside():
    def fn(w0, w1, x):
        def first(w, x):
            h = x @ w
            return jax.lax.with_sharding_constraint(h, PartitionSpec("data", "model"))

        h = mpmd.named_computation(first, name="a")(w0, x)
        return stage("b")(w1, h)

    axes = (("data", 2), ("model", 2))
    return Program(fn, tuple(two()), TWO, {"m0": axes, "m1": axes})


@program
def sharding_from_inputs():
    def shardings(topology):
        m0, m1 = topology["m0"], topology["m1"]
        return {
            "in_shardings": (
                NamedSharding(m0, PartitionSpec(None, "x")),
                NamedSharding(m1, PartitionSpec("x")),
                NamedSharding(m0, PartitionSpec()),
            )
        }

    return Program(
        chain,
        tuple(two()),
        TWO,
        config={"read_input_output_mesh_from_shardings": True},
        jit=shardings,
    )


@program
def host_callback_outside_of_labels():
    """A callback runs on one device; that it names a mesh of its own must not confuse anyone."""

    def fn(w0, w1, x):
        kind = jax.ShapeDtypeStruct(x.shape, x.dtype)
        twice = jax.pure_callback(lambda x: 2 * np.asarray(x), kind, x)
        return chain(w0, w1, twice)

    single = {"m0": (("x", 1),), "m1": (("x", 1),)}
    return Program(fn, tuple(two()), TWO, single)
