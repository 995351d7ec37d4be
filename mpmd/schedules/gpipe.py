"""GPipe: all forwards, then all backwards."""

from __future__ import annotations

import numpy as np

from mpmd.schedules.building import lagged
from mpmd.schedules.schedule import Schedule


def gpipe(num_meshes: int, num_microbatches: int) -> Schedule:
    """Runs all forwards before the first backward; the simplest, and it holds m activations."""
    warm_up = np.full(num_meshes, num_microbatches)
    return lagged("GPipe", num_meshes, num_microbatches, warm_up)
