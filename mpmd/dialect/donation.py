"""How functions say that an argument may be consumed."""

from __future__ import annotations

from collections.abc import Mapping

from mpmd.dialect._jaxlib import ir

ALIASING_OUTPUT = "tf.aliasing_output"
"""The argument's memory becomes that of the result with this number."""

BUFFER_DONOR = "jax.buffer_donor"
"""The argument's memory may be used for any purpose."""


def is_donated(attributes: Mapping[str, ir.Attribute]) -> bool:
    """Tells whether the attributes of an argument allow to consume it."""
    if ALIASING_OUTPUT in attributes:
        return True
    return BUFFER_DONOR in attributes and ir.BoolAttr(attributes[BUFFER_DONOR]).value
