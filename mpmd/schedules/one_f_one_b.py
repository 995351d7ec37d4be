"""1F1B: backward as early as possible, one forward after each."""

from __future__ import annotations

import numpy as np

from mpmd.schedules.building import lagged
from mpmd.schedules.schedule import Schedule


def one_f_one_b(num_meshes: int, num_microbatches: int) -> Schedule:
    """Alternates forward and backward after a warm-up of p - s forwards.

    As fast as GPipe, with at most p - s instead of m live activations in stage s.
    """
    warm_up = num_meshes - np.arange(num_meshes)
    return lagged("1F1B", num_meshes, num_microbatches, warm_up)
