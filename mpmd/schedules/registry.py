"""Makes schedules by name."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mpmd.schedules.costs import Costs
from mpmd.schedules.schedule import IntArray, Schedule


@dataclass(frozen=True)
class Family:
    """Where a family's generator is, and what its schedules look like."""

    module: str
    function: str
    stages_per_mesh: int | None = 1
    """How many stages it puts on a mesh; None: any number."""
    splits_backward: bool = False
    """Whether gradients of inputs and of weights are tasks of their own."""

    def make(self, num_meshes: int, num_microbatches: int, stages_per_mesh: int) -> Schedule:
        generator = getattr(importlib.import_module(self.module), self.function)
        if self.stages_per_mesh is None:
            schedule: Schedule = generator(num_meshes, num_microbatches, stages_per_mesh)
        else:
            schedule = generator(num_meshes, num_microbatches)
        return schedule


_HERE = "mpmd.schedules"
FAMILIES = {
    "1F1B": Family(f"{_HERE}.one_f_one_b", "one_f_one_b"),
    "Circular": Family(f"{_HERE}.circular", "circular", None),
    "CircularWithReversedBackward": Family(f"{_HERE}.circular", "circular_reversed", None),
    "DualPipeV": Family(f"{_HERE}.v_shaped", "dual_pipe_v", 2, splits_backward=True),
    "GPipe": Family(f"{_HERE}.gpipe", "gpipe"),
    "GPipeBut1F1BForLastMesh": Family(f"{_HERE}.gpipe_one_f_one_b_last", "gpipe_one_f_one_b_last"),
    "Interleaved1F1B": Family(f"{_HERE}.interleaved", "interleaved_one_f_one_b", None),
    "InterleavedZeroBubble": Family(
        f"{_HERE}.interleaved", "interleaved_zero_bubble", None, splits_backward=True
    ),
    "ParallelPipelinesWithWrapAround": Family(
        f"{_HERE}.wrap_around", "parallel_pipelines_with_wrap_around", None
    ),
    "ZBV": Family(f"{_HERE}.v_shaped", "zero_bubble_v", 2, splits_backward=True),
    "ZeroBubbleH1": Family(f"{_HERE}.zero_bubble", "zero_bubble_h1", splits_backward=True),
    "ZeroBubbleH2FullTxLatency": Family(
        f"{_HERE}.zero_bubble", "zero_bubble_h2_full_latency", splits_backward=True
    ),
    "ZeroBubbleH2HalfTxLatency": Family(
        f"{_HERE}.zero_bubble", "zero_bubble_h2_half_latency", splits_backward=True
    ),
    "ZeroBubbleH2ZeroTxLatency": Family(
        f"{_HERE}.zero_bubble", "zero_bubble_h2_zero_latency", splits_backward=True
    ),
}
AUTO, NONE = "Auto", "None"
NAMES = tuple(sorted([*FAMILIES, AUTO, NONE]))


def require_name(name: str) -> None:
    """Raises a ValueError unless there is a schedule of this name."""
    if name not in NAMES:
        raise ValueError(f"there is no schedule {name!r}; there are {', '.join(NAMES)}")


def splits_backward(name: str) -> bool:
    """Tells whether the schedule `name` wants backwards split; a search can choose to use it."""
    require_name(name)
    return name == AUTO or (name in FAMILIES and FAMILIES[name].splits_backward)


def build(
    name: str, num_meshes: int, num_microbatches: int, stages_per_mesh: int | None = None
) -> Schedule | None:
    """Makes the schedule of a family; None for "None", which keeps the program's own order.

    Args:
      name: one of NAMES.
      num_meshes: at least 1.
      num_microbatches: at least 1.
      stages_per_mesh: at least 1; by default the family's own number, or 1 where it takes any.
    """
    require_name(name)
    if name == NONE:
        return None
    if name == AUTO:
        return auto(num_meshes, num_microbatches, 1 if stages_per_mesh is None else stages_per_mesh)
    family = FAMILIES[name]
    if stages_per_mesh is None:
        stages_per_mesh = family.stages_per_mesh or 1
    _require_sizes(name, num_meshes, num_microbatches, stages_per_mesh)
    if family.stages_per_mesh not in (None, stages_per_mesh):
        raise ValueError(
            f"{name} puts {family.stages_per_mesh} of the stages on each mesh, but there are "
            f"{stages_per_mesh * num_meshes} stages for {num_meshes} meshes: "
            f"{', '.join(_names_for(stages_per_mesh))} can do that"
        )
    return family.make(num_meshes, num_microbatches, stages_per_mesh)


def auto(
    num_meshes: int,
    num_microbatches: int,
    stages_per_mesh: int = 1,
    *,
    placement: Sequence[int] | IntArray | None = None,
    costs: Costs | None = None,
    memory_limit: float | Sequence[float] = np.inf,
    split_backward: bool = True,
) -> Schedule:
    """Searches all families, and schedules made for the costs, for the shortest step.

    The stages go in rounds over the meshes unless `placement` says otherwise.
    """
    from mpmd.schedules.auto import search

    _require_sizes(AUTO, num_meshes, num_microbatches, stages_per_mesh)
    if placement is None:
        placement = np.tile(np.arange(num_meshes), stages_per_mesh)
    candidates = [
        FAMILIES[name].make(num_meshes, num_microbatches, stages_per_mesh)
        for name in _names_for(stages_per_mesh)
    ]
    return search(
        candidates, np.asarray(placement), num_microbatches, costs, memory_limit, split_backward
    )


def _names_for(stages_per_mesh: int) -> list[str]:
    return [n for n, f in FAMILIES.items() if f.stages_per_mesh in (None, stages_per_mesh)]


def _require_sizes(name: str, num_meshes: int, num_microbatches: int, stages_per_mesh: int) -> None:
    if min(num_meshes, num_microbatches, stages_per_mesh) < 1:
        raise ValueError(
            f"{name} needs at least one mesh, one microbatch and one stage per mesh, not "
            f"{num_meshes} meshes, {num_microbatches} microbatches and {stages_per_mesh} stages "
            "per mesh"
        )
