"""Pipelines in parallel that start on different meshes and wrap around."""

from __future__ import annotations

import numpy as np

from mpmd.schedules.building import Line
from mpmd.schedules.schedule import Schedule
from mpmd.schedules.task import Kind


def parallel_pipelines_with_wrap_around(
    num_meshes: int, num_microbatches: int, stages_per_mesh: int
) -> Schedule:
    """Starts microbatch i on mesh i mod p, so that no mesh waits for its first work.

    Every mesh runs every stage, each for another microbatch, and so needs the weights of all
    stages. p microbatches go forward and back before the next p start.
    """
    num_stages = num_meshes * stages_per_mesh
    microbatch = np.arange(num_microbatches)
    stage = np.arange(num_stages)[:, None]
    placement = (stage + microbatch) % num_meshes
    rows = []
    for mesh in range(num_meshes):
        line = Line(num_microbatches)
        stages, microbatches = np.nonzero(placement == mesh)
        group = 2 * num_stages * (microbatches // num_meshes)
        line.add(stages, Kind.F, microbatches, group + stages)
        line.add(stages, Kind.B, microbatches, group + 2 * num_stages - 1 - stages)
        rows.append(line.codes())
    return Schedule(rows, placement, num_microbatches, "ParallelPipelinesWithWrapAround")
