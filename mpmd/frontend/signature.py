"""The arguments and results of a partitioned function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mpmd.errors import ArgumentError
from mpmd.frontend import _jax


@dataclass(frozen=True)
class Signature:
    """Trees, types and names, all without static arguments."""

    in_tree: Any  # of (args, kwargs)
    out_tree: Any
    in_avals: tuple[Any, ...]
    out_avals: tuple[Any, ...]
    arg_names: tuple[str, ...]
    donated: tuple[bool, ...]

    @property
    def result_names(self) -> list[str]:
        """Names of the results, for messages."""
        tree = jax.tree.unflatten(self.out_tree, range(self.out_tree.num_leaves))
        paths = jax.tree_util.tree_leaves_with_path(tree)
        return [f"result{jax.tree_util.keystr(path)}" for path, _ in paths]

    def arguments_like(self, values: Sequence[Any]) -> Any:
        """A tree of values like the arguments: the positional ones, or (args, kwargs)."""
        args, kwargs = jax.tree.unflatten(self.in_tree, values)
        return (args, kwargs) if kwargs else args

    def flatten(self, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
        """The arguments as a list, checked against the tree."""
        flat, tree = jax.tree.flatten((tuple(args), kwargs))
        if tree != self.in_tree:
            raise ArgumentError(self._tree_error(args, kwargs))
        return flat

    def _tree_error(self, args: Sequence[Any], kwargs: dict[str, Any]) -> str:
        def paths(tree: Any) -> dict[str, None]:
            return {_path(path): None for path, _ in jax.tree_util.tree_leaves_with_path(tree)}

        expected = jax.tree.unflatten(self.in_tree, range(self.in_tree.num_leaves))
        names = dict(zip(paths(expected), self.arg_names, strict=True))
        given = paths((tuple(args), kwargs))
        missing = [name for path, name in names.items() if path not in given]
        unexpected = [path for path in given if path not in names]
        problems = []
        if missing:
            problems.append(f"missing: {', '.join(missing[:5])}")
        if unexpected:
            problems.append(f"not expected: {', '.join(unexpected[:5])}")
        if not problems:
            problems.append("the containers differ, while the arrays are at the same places")
        return (
            "the arguments are not those that the function was lowered for; "
            f"{'; '.join(problems)}. Lower it again for other arguments."
        )

    def check(self, flat: Sequence[Any]) -> None:
        """Refuses arguments that have not the types that the function was lowered for."""
        for x, aval, name in zip(flat, self.in_avals, self.arg_names, strict=True):
            try:
                shape, dtype = jnp.shape(x), dtype_of(x)
            except (TypeError, ValueError, OverflowError) as error:
                raise ArgumentError(f"{name} is no array: {error}") from None
            if shape != aval.shape:
                raise ArgumentError(f"{name} must have the shape {aval.shape}, got {shape}")
            if dtype != aval.dtype:
                raise ArgumentError(f"{name} must have the type {aval.dtype}, got {dtype}")

    def prepare(self, flat: Sequence[Any]) -> list[Any]:
        """Gives arguments as arrays of plain types: keys as their bits, scalars as arrays."""
        arrays = [x if isinstance(x, jax.Array) else np.asarray(x, dtype_of(x)) for x in flat]
        for i in self._keys_in:
            arrays[i] = jax.random.key_data(arrays[i])
        return arrays

    def finish(self, flat: Sequence[Any]) -> Any:
        """The tree of results from arrays of plain types."""
        if self._keys_out or self._weak_out:
            flat = list(flat)
            for i in self._keys_out:
                implementation = _jax.key_implementation(self.out_avals[i].dtype)
                flat[i] = jax.random.wrap_key_data(flat[i], impl=implementation)
            for i in self._weak_out:
                flat[i] = _jax.weakly_typed(flat[i])
        return jax.tree.unflatten(self.out_tree, flat)

    @cached_property
    def _keys_in(self) -> tuple[int, ...]:
        return tuple(i for i, aval in enumerate(self.in_avals) if is_key(aval))

    @cached_property
    def _keys_out(self) -> tuple[int, ...]:
        return tuple(i for i, aval in enumerate(self.out_avals) if is_key(aval))

    @cached_property
    def _weak_out(self) -> tuple[int, ...]:
        return tuple(i for i, aval in enumerate(self.out_avals) if aval.weak_type)


def dtype_of(x: Any) -> Any:
    """The type that an argument has, or gets as an array."""
    return (
        x.dtype if isinstance(x, jax.Array) else jax.dtypes.canonicalize_dtype(jnp.result_type(x))
    )


def is_key(aval: Any) -> bool:
    """Whether a type is that of typed random keys."""
    return jnp.issubdtype(aval.dtype, jax.dtypes.prng_key)


def _path(path: Any) -> str:
    (where, *rest) = path
    kind = "args" if where.idx == 0 else "kwargs"
    return kind + jax.tree_util.keystr(tuple(rest))
