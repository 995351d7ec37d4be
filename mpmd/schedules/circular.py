"""Circular schedules: breadth first over stages that wrap around the meshes."""

from __future__ import annotations

import numpy as np

from mpmd.schedules.building import Line
from mpmd.schedules.interleaved import rounds
from mpmd.schedules.schedule import Schedule
from mpmd.schedules.task import Kind


def circular(num_meshes: int, num_microbatches: int, stages_per_mesh: int) -> Schedule:
    """Takes p microbatches at a time through all stages forward, then all of them backward.

    Like GPipe it holds the activations of all microbatches, but the bubble is divided by the
    number of stages per mesh.
    """
    return _circular("Circular", num_meshes, num_microbatches, stages_per_mesh, reverse=False)


def circular_reversed(num_meshes: int, num_microbatches: int, stages_per_mesh: int) -> Schedule:
    """Runs as Circular, with the backwards in the reverse order of the forwards."""
    name = "CircularWithReversedBackward"
    return _circular(name, num_meshes, num_microbatches, stages_per_mesh, reverse=True)


def _circular(
    name: str, num_meshes: int, num_microbatches: int, stages_per_mesh: int, reverse: bool
) -> Schedule:
    step, chunk, microbatch = rounds(num_meshes, num_microbatches, stages_per_mesh)
    mirrored = stages_per_mesh - 1 - chunk
    rows = []
    for mesh in range(num_meshes):
        line = Line(num_microbatches)
        line.add(chunk * num_meshes + mesh, Kind.F, microbatch, step)
        if reverse:
            line.add(chunk * num_meshes + mesh, Kind.B, microbatch, 2 * len(step) - step)
        else:
            line.add(mirrored * num_meshes + mesh, Kind.B, microbatch, len(step) + step)
        rows.append(line.codes())
    placement = np.tile(np.arange(num_meshes), stages_per_mesh)
    return Schedule(rows, placement, num_microbatches, name)
