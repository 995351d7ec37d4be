"""GPipe whose last mesh alternates forward and backward."""

from __future__ import annotations

import numpy as np

from mpmd.schedules.building import lagged
from mpmd.schedules.schedule import Schedule


def gpipe_one_f_one_b_last(num_meshes: int, num_microbatches: int) -> Schedule:
    """Runs as GPipe, but the last mesh does each backward right after its forward.

    The last stage then holds one activation, often the largest one (the logits), and its forward
    and backward can become one computation.
    """
    warm_up = np.full(num_meshes, num_microbatches)
    warm_up[-1] = 1
    return lagged("GPipeBut1F1BForLastMesh", num_meshes, num_microbatches, warm_up)
