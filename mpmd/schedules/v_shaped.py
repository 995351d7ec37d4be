"""Schedules with two stages a mesh in a V: down the meshes and back up.

The last stage is on mesh 0 beside the first one, so its backward starts there at once, and
activations are held for about the same time on every mesh.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum

import numpy as np

from mpmd.schedules.schedule import BoolArray, IntArray, Schedule, encode
from mpmd.schedules.task import Kind


class _Do(IntEnum):
    """What a mesh does next; the microbatch follows from how often it did so before."""

    F_DOWN = 0
    F_UP = 1
    B_DOWN = 2
    B_UP = 3
    BI_DOWN = 4
    BI_UP = 5
    BW = 6  # the oldest weight gradient that was put off


_KIND = np.array([Kind.F, Kind.F, Kind.B, Kind.B, Kind.Bi, Kind.Bi, Kind.Bw])
_UP = np.array([False, True, False, True, False, True, False])


def zero_bubble_v(num_meshes: int, num_microbatches: int) -> Schedule:
    """Has no bubble when F = Bi = Bw, within 1F1B's memory (Qi et al. 2024)."""
    enough = 2 * num_meshes - 1
    return _build("ZBV", num_meshes, num_microbatches, enough, _zero_bubble_phases)


def dual_pipe_v(num_meshes: int, num_microbatches: int) -> Schedule:
    """DualPipe cut in half (DeepSeek 2024): forwards one way pair with backwards the other way.

    The tasks of a pair follow each other, so that the transfers of one hide behind the other.
    """
    enough = 2 * num_meshes
    return _build("DualPipeV", num_meshes, num_microbatches, enough, _dual_pipe_phases)


def _zero_bubble_phases(p: int, mesh: int, m: int) -> list[IntArray]:
    down_before_first_up = 2 * (p - mesh) - 1
    forwards_left = m - (2 * p - 1 - mesh)  # of the way down, after the warm-up
    backward_pair = [_Do.BI_DOWN, _Do.BW, _Do.F_UP, _Do.BI_UP, _Do.BW]
    return [
        _repeat([_Do.F_DOWN], down_before_first_up),
        _repeat([_Do.F_UP, _Do.F_DOWN], mesh),
        _repeat([_Do.F_UP, _Do.BI_UP, _Do.BW], p - mesh),
        _repeat([_Do.F_DOWN, *backward_pair], forwards_left),
        _repeat(backward_pair, m - p - forwards_left),
        _repeat([_Do.BI_DOWN, _Do.BI_UP], mesh),
        _repeat([_Do.BI_DOWN, _Do.BW], p - mesh),
        _repeat([_Do.BW], mesh + mesh),
    ]


def _dual_pipe_phases(p: int, mesh: int, m: int) -> list[IntArray]:
    behind = p - 1 - mesh
    cool_down = _repeat([_Do.B_UP, _Do.B_DOWN], mesh + 1)
    split = {_Do.B_UP: _Do.BI_UP, _Do.B_DOWN: _Do.BI_DOWN}
    cool_down[mesh + 1 :] = [split[_Do(do)] for do in cool_down[mesh + 1 :]]
    return [
        _repeat([_Do.F_DOWN], 2 * behind),
        _repeat([_Do.F_DOWN, _Do.F_UP], mesh + 1),
        _repeat([_Do.BI_UP, _Do.BW, _Do.F_UP], behind),
        _repeat([_Do.F_DOWN, _Do.B_UP, _Do.F_UP, _Do.B_DOWN], m - 2 * p + mesh + 1),
        _repeat([_Do.B_UP, _Do.F_UP, _Do.B_DOWN], behind),
        cool_down,
        _repeat([_Do.BW, _Do.BI_DOWN], behind),
        _repeat([_Do.BW], mesh + 1),
    ]


def _repeat(pattern: list[_Do], times: int) -> IntArray:
    return np.tile(np.array(pattern, dtype=np.int64), times)


def _build(
    name: str,
    num_meshes: int,
    num_microbatches: int,
    enough: int,
    phases: Callable[[int, int, int], list[IntArray]],
) -> Schedule:
    """Turns the phases of every mesh into tasks.

    The phases are defined for `enough` microbatches and more. A step with fewer gets the order of
    that many, with the tasks of the microbatches that it does not have left out.
    """
    padded = max(num_microbatches, enough)
    rows, pairs = [], []
    for mesh in range(num_meshes):
        do = np.concatenate(phases(num_meshes, mesh, padded))
        stage, microbatch = _resolve(do, mesh, 2 * num_meshes - 1 - mesh)
        real = microbatch < num_microbatches
        rows.append(encode(stage[real], _KIND[do[real]], microbatch[real], num_microbatches))
        pairs.append(_pairs(do, real)[real])
    meshes = np.arange(num_meshes)
    placement = np.concatenate([meshes, meshes[::-1]])
    return Schedule(rows, placement, num_microbatches, name, np.concatenate(pairs))


def _pairs(do: IntArray, real: BoolArray) -> BoolArray:
    """Marks forwards that run together with the whole backward that follows them."""
    pairs = np.zeros(len(do), dtype=bool)
    whole = (do == _Do.B_DOWN) | (do == _Do.B_UP)
    pairs[:-1] = (_KIND[do[:-1]] == Kind.F) & whole[1:] & real[:-1] & real[1:]
    return pairs


def _resolve(do: IntArray, down: int, up: int) -> tuple[IntArray, IntArray]:
    """Finds the stage and microbatch of everything that a mesh does."""
    kind = _KIND[do]
    stage = np.where(_UP[do], up, down)
    microbatch = np.empty_like(do)
    backward = (kind == Kind.B) | (kind == Kind.Bi)
    for mask in (kind == Kind.F, backward):
        for way in (down, up):
            chosen = np.flatnonzero(mask & (stage == way))
            microbatch[chosen] = np.arange(len(chosen))
    put_off, weights = np.flatnonzero(kind == Kind.Bi), np.flatnonzero(kind == Kind.Bw)
    stage[weights], microbatch[weights] = stage[put_off], microbatch[put_off]
    return stage, microbatch
