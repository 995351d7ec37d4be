"""Which operations are cheaper to repeat than to keep the result of."""

from __future__ import annotations

from mpmd.dialect._jaxlib import ir

_ELEMENTWISE = (
    "abs add and atan2 cbrt ceil clamp compare complex convert cosine count_leading_zeros divide "
    "exponential exponential_minus_one floor imag is_finite log log_plus_one logistic maximum "
    "minimum multiply negate not or popcnt power real reduce_precision remainder round_nearest_afz "
    "round_nearest_even rsqrt select shift_left shift_right_arithmetic shift_right_logical sign "
    "sine sqrt subtract tan tanh xor"
)
_SHAPES = (
    "bitcast_convert broadcast_in_dim concatenate dynamic_slice pad reshape reverse slice transpose"
)
_NAMES = frozenset(
    f"stablehlo.{name}" for name in f"{_ELEMENTWISE} {_SHAPES} constant iota".split()
) | {"sdy.constant", "sdy.sharding_constraint"}


def is_cheap(op: ir.Operation) -> bool:
    """Tells whether `op` makes each element from a fixed number of others.

    XLA fuses such operations into what uses them, so that repeating one costs next to nothing.
    """
    return op.name in _NAMES
