"""The types that the two ways into JAX, private and public, have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

# Starts an execution. The first result has `block_until_ready()`, which waits for its end.
Runner = Callable[[list[jax.Array]], tuple[Any, list[jax.Array]]]
Copier = Callable[[list[jax.Array]], list[jax.Array]]
# Returns the types, with shardings, of the arguments and results of a module, if asked.
Signature = Callable[[], tuple[Sequence[jax.ShapeDtypeStruct], Sequence[jax.ShapeDtypeStruct]]]
