"""Zero-bubble schedules with one stage a mesh (Qi et al. 2023)."""

from __future__ import annotations

import numpy as np

from mpmd.schedules.building import lagged
from mpmd.schedules.schedule import Schedule


def zero_bubble_h1(num_meshes: int, num_microbatches: int) -> Schedule:
    """Fills the end of 1F1B with weight gradients, within 1F1B's memory of p activations.

    Later stages, which reach their first backward sooner, put off more weight gradients.
    """
    mesh = np.arange(num_meshes)
    return lagged("ZeroBubbleH1", num_meshes, num_microbatches, num_meshes - mesh, mesh)


def zero_bubble_h2_zero_latency(num_meshes: int, num_microbatches: int) -> Schedule:
    """Has no bubble when F = Bi = Bw and transfers take no time; holds 2p - 1 activations."""
    return _zero_bubble_h2("ZeroBubbleH2ZeroTxLatency", num_meshes, num_microbatches, 2)


def zero_bubble_h2_half_latency(num_meshes: int, num_microbatches: int) -> Schedule:
    """Has no bubble when F = Bi = Bw and a transfer takes half as long as one of them."""
    return _zero_bubble_h2("ZeroBubbleH2HalfTxLatency", num_meshes, num_microbatches, 3)


def zero_bubble_h2_full_latency(num_meshes: int, num_microbatches: int) -> Schedule:
    """Has no bubble when F = Bi = Bw and a transfer takes as long as one of them."""
    return _zero_bubble_h2("ZeroBubbleH2FullTxLatency", num_meshes, num_microbatches, 4)


def _zero_bubble_h2(name: str, num_meshes: int, num_microbatches: int, trip: int) -> Schedule:
    """Fills the whole wait for the first gradient with forwards.

    `trip` is the time there and back between neighbours, transfers included, in forwards.
    """
    mesh = np.arange(num_meshes)
    warm_up = trip * (num_meshes - 1 - mesh) + 1
    return lagged(name, num_meshes, num_microbatches, warm_up, trip * mesh)
