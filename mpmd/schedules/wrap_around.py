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
    round_ = np.arange(stages_per_mesh)[:, None] * num_meshes
    group = 2 * num_stages * (microbatch // num_meshes)
    rows = []
    for mesh in range(num_meshes):
        line = Line(num_microbatches)
        stages = round_ + (mesh - microbatch) % num_meshes
        microbatches = np.broadcast_to(microbatch, stages.shape)
        line.add(stages.ravel(), Kind.F, microbatches.ravel(), (group + stages).ravel())
        backward_key = group + 2 * num_stages - 1 - stages
        line.add(stages.ravel(), Kind.B, microbatches.ravel(), backward_key.ravel())
        rows.append(line.codes())
    placement = (np.arange(num_stages)[:, None] + microbatch) % num_meshes
    return Schedule(rows, placement, num_microbatches, "ParallelPipelinesWithWrapAround")
