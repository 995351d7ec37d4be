"""Lowers MPMD programs of fragment calls to IFRT IR."""

from mpmd.lowering.errors import LoweringError
from mpmd.lowering.to_ifrt import lower_to_ifrt, lowered_to_ifrt

__all__ = ["LoweringError", "lower_to_ifrt", "lowered_to_ifrt"]
