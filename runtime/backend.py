"""The calls into JAX that the runtime makes: private ones if they exist, else public ones."""

from __future__ import annotations

import logging
from typing import Any

jax_calls: Any
try:
    from mpmd.runtime import _jax as jax_calls
except (ImportError, AttributeError) as error:
    from mpmd.runtime import public as jax_calls

    logging.getLogger("mpmd.runtime").warning(
        "JAX has other internals than expected (%s); programs run through public calls, slower",
        error,
    )

__all__ = ["jax_calls"]
