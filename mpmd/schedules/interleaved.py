"""Schedules with several stages a mesh, placed in rounds over the meshes."""

from __future__ import annotations

import numpy as np

from mpmd.schedules.building import Line
from mpmd.schedules.schedule import IntArray, Schedule
from mpmd.schedules.task import Kind


def interleaved_one_f_one_b(
    num_meshes: int, num_microbatches: int, stages_per_mesh: int
) -> Schedule:
    """Cuts the bubble of 1F1B by the number of stages per mesh (Narayanan et al. 2021).

    Each mesh takes p microbatches through its first stage, then through its second, and so on;
    after the warm-up it alternates such forwards with backwards in the reverse order of stages.
    Costs more transfers, and memory of p(1 + (p-1)/(pv)) instead of p activations on mesh 0.
    """
    rows = []
    for mesh in range(num_meshes):
        line = Line(num_microbatches)
        step, chunk, microbatch = rounds(num_meshes, num_microbatches, stages_per_mesh)
        stage, mirrored = _stages(num_meshes, stages_per_mesh, mesh, chunk)
        lag = _lag(num_meshes, stages_per_mesh, mesh)
        line.add(stage, Kind.F, microbatch, 2 * step)
        line.add(mirrored, Kind.B, microbatch, 2 * (step + lag) + 1)
        rows.append(line.codes())
    placement = np.tile(np.arange(num_meshes), stages_per_mesh)
    return Schedule(rows, placement, num_microbatches, "Interleaved1F1B")


def interleaved_zero_bubble(
    num_meshes: int, num_microbatches: int, stages_per_mesh: int
) -> Schedule:
    """Interleaved1F1B with split backwards, whose weight gradients fill the end of the step."""
    rows = []
    for mesh in range(num_meshes):
        line = Line(num_microbatches)
        step, chunk, microbatch = rounds(num_meshes, num_microbatches, stages_per_mesh)
        stage, mirrored = _stages(num_meshes, stages_per_mesh, mesh, chunk)
        lag = _lag(num_meshes, stages_per_mesh, mesh)
        line.add(stage, Kind.F, microbatch, 3 * step)
        line.add(mirrored, Kind.Bi, microbatch, 3 * (step + lag) + 1)
        line.add(mirrored, Kind.Bw, microbatch, 3 * (step + lag + mesh) + 2)
        rows.append(line.codes())
    placement = np.tile(np.arange(num_meshes), stages_per_mesh)
    return Schedule(rows, placement, num_microbatches, "InterleavedZeroBubble")


def rounds(
    num_meshes: int, num_microbatches: int, stages_per_mesh: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Numbers a mesh's forwards: (step, which of its stages, microbatch), rounds filled up."""
    num_rounds = -(-num_microbatches // num_meshes)
    step = np.arange(num_rounds * num_meshes * stages_per_mesh)
    round_, within = np.divmod(step, num_meshes * stages_per_mesh)
    chunk, microbatch = np.divmod(within, num_meshes)
    return step, chunk, round_ * num_meshes + microbatch


def _lag(num_meshes: int, stages_per_mesh: int, mesh: int) -> int:
    """Returns how many forwards run before the forward that the first backward follows."""
    if stages_per_mesh == 1:
        return num_meshes - 1 - mesh
    return (stages_per_mesh - 1) * num_meshes + 2 * (num_meshes - 1 - mesh)


def _stages(
    num_meshes: int, stages_per_mesh: int, mesh: int, chunk: IntArray
) -> tuple[IntArray, IntArray]:
    """Returns the stages of a mesh's forwards in order of `chunk`, and of the backwards."""
    return chunk * num_meshes + mesh, (stages_per_mesh - 1 - chunk) * num_meshes + mesh
