"""Labels: what a user writes in a function to say which part of it is which.

Each is an identity to JAX: it changes no value, under no transformation.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import jax

from mpmd.frontend import _jax, marks
from mpmd.frontend.names import LabelName, check_label


def named_computation(
    fn: Callable | None = None,
    *,
    name: str,
    static_argnames: str | Iterable[str] | None = None,
    transpose_count: int = 0,
) -> Callable:
    """Labels a computation, so that a mesh (and a stage) can be assigned to it by name.

    Call form: ``y = mpmd.named_computation(f, name="stage0")(x)``; decorator form:
    ``@mpmd.named_computation(name="stage0")``. The gradient of the computation carries the same
    name with a transpose count one higher, the gradient of that two higher. ``transpose_count``
    says where to start: a hand-written backward (``jax.custom_vjp``) is labelled with 1.
    """
    label = LabelName(check_label(name), transpose_count=_check_transpose_count(transpose_count))
    if fn is None:
        return functools.partial(
            named_computation,
            name=name,
            static_argnames=static_argnames,
            transpose_count=transpose_count,
        )
    if not callable(fn):
        raise TypeError(f"named_computation {name!r} needs a function, got {fn!r}")

    @functools.wraps(fn, updated=())
    def call_labelled(*args: Any, **kwargs: Any) -> Any:
        if not _jax.is_tracing():
            with jax.named_scope(label):
                return fn(*args, **kwargs)
        # Traced anew every time, as the function may use values of the trace around it.
        return _labelled(fn, label, static_argnames)(*args, **kwargs)

    return call_labelled


def _labelled(
    fn: Callable, label: LabelName, static_argnames: str | Iterable[str] | None
) -> Callable:
    @functools.wraps(fn, assigned=("__module__", "__doc__"), updated=())
    def body(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = marks.tag((args, kwargs))
        return marks.tag(fn(*args, **kwargs))

    body.__name__ = label
    return jax.jit(body, static_argnames=static_argnames)


def _check_transpose_count(count: object) -> int:
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise ValueError(f"transpose_count must be an integer >= 0, got {count!r}")
    return count


def named_tensor(x: Any, name: str) -> Any:
    """Labels the arrays of a tree, so that a mesh can be assigned to them by name."""
    check_label(name)
    return jax.tree.map(lambda leaf: marks.named_tensor_p.bind(leaf, name=name), x)


def broadcast(x: Any) -> Any:
    """Lets the arrays of a tree be copied to every mesh that uses them."""
    return jax.tree.map(marks.broadcast_p.bind, x)


def reduce(x: Any) -> Any:
    """Lets the sums that make the arrays of a tree be reductions across meshes."""
    return jax.tree.map(marks.reduce_p.bind, x)
