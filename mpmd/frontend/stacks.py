"""Arrays known by their slices along the first axis, put together only if somebody asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax


class Stack:
    """The stacked results of an unrolled loop.

    The loop of the gradient takes the slices one by one, so the residuals of a microbatch go
    straight to its backward, and no array over all microbatches is ever made.
    """

    def __init__(
        self, parts: Sequence[Any], make: Callable[[], Any], *, is_iota: bool = False
    ) -> None:
        """Keeps the slices and a way to make the whole."""
        self.parts = parts
        self.is_iota = is_iota
        self._make = make
        self._whole: Any = None

    def whole(self) -> Any:
        """The array itself, made on first use."""
        if self._whole is None:
            self._whole = self._make()
        return self._whole

    @classmethod
    def of(cls, parts: Sequence[Any], aval: Any) -> Stack:
        """Stacks slices; the type tells the array apart when there are none."""

        def make() -> Any:
            if not parts:
                return jnp.zeros(aval.shape, aval.dtype)
            return lax.concatenate([lax.expand_dims(part, (0,)) for part in parts], 0)

        return cls(parts, make)

    @classmethod
    def iota(cls, aval: Any, make: Callable[[], Any]) -> Stack:
        """The numbers 0..n-1, each of them a constant."""
        numbers = [np.asarray(i, aval.dtype) for i in range(aval.shape[0])]
        return cls(numbers, make, is_iota=True)


def whole(value: Any) -> Any:
    """A value as JAX takes it."""
    return value.whole() if isinstance(value, Stack) else value


def parts_of(value: Any, length: int) -> Sequence[Any]:
    """The slices of a value along its first axis."""
    if isinstance(value, Stack):
        return value.parts
    return [lax.index_in_dim(value, i, keepdims=False) for i in range(length)]
