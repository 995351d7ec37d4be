"""What tasks and transfers cost: the input of the simulator."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mpmd.schedules.task import Kind

PerStage = float | Sequence[float] | NDArray[np.float64]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Costs:
    """Durations and memory, each one number for all stages or one per stage.

    A forward and a backward that a schedule pairs take as long as one after the other, and are
    simulated as that, unless `overlapped` (by the stage of the forward) says what they take
    together.

    The whole backward takes `input_gradient + weight_gradient` unless `backward` is given.
    `forward_transfer` is the time from a stage to the next one, `backward_transfer` from a stage
    to the one before; transfers within a mesh are free.

    `activations` is held from a forward's start to the end of its backward; of a split backward,
    `kept_for_weights` (a fraction) remains between the ends of Bi and Bw. `weights` is always
    there.

    Transfers do not disturb each other unless `link` names, for a source and a target mesh, the
    link that they share with every other pair of the same name: it carries one at a time, first
    come, first served.
    """

    forward: PerStage = 1.0
    input_gradient: PerStage = 1.0
    weight_gradient: PerStage = 1.0
    backward: PerStage | None = None
    overlapped: PerStage | None = None
    forward_transfer: PerStage = 0.0
    backward_transfer: PerStage = 0.0
    activations: PerStage = 1.0
    kept_for_weights: float = 1.0
    weights: PerStage = 0.0
    link: Callable[[int, int], Hashable] | None = None

    def durations(self, num_stages: int) -> FloatArray:
        """Returns the table [stage, kind] of task durations."""
        inputs = _per_stage("input_gradient", self.input_gradient, num_stages)
        weights = _per_stage("weight_gradient", self.weight_gradient, num_stages)
        table = np.empty((num_stages, len(Kind)))
        table[:, Kind.F] = _per_stage("forward", self.forward, num_stages)
        table[:, Kind.Bi] = inputs
        table[:, Kind.Bw] = weights
        table[:, Kind.B] = (
            inputs + weights
            if self.backward is None
            else _per_stage("backward", self.backward, num_stages)
        )
        return table

    def overlapped_durations(self, num_stages: int) -> FloatArray | None:
        """Returns, by the stage of the forward, how long pairs take, if that is given."""
        if self.overlapped is None:
            return None
        return _per_stage("overlapped", self.overlapped, num_stages)

    def transfers(self, num_stages: int) -> FloatArray:
        """Returns the table [stage, kind] of how long what a task makes is on its way."""
        table = np.zeros((num_stages, len(Kind)))
        table[:, Kind.F] = _per_stage("forward_transfer", self.forward_transfer, num_stages)
        backward = _per_stage("backward_transfer", self.backward_transfer, num_stages)
        table[:, Kind.B] = table[:, Kind.Bi] = backward
        return table

    def memory(self, num_stages: int) -> FloatArray:
        """Returns the table [stage, kind] of the change of memory each task leaves behind."""
        kept = self.kept_for_weights
        if not isinstance(kept, (int, float)) or not 0.0 <= kept <= 1.0:
            raise ValueError(f"kept_for_weights is a fraction, not {kept}")
        held = _per_stage("activations", self.activations, num_stages)
        table = np.empty((num_stages, len(Kind)))
        table[:, Kind.F] = held
        table[:, Kind.B] = -held
        table[:, Kind.Bi] = -held * (1.0 - self.kept_for_weights)
        table[:, Kind.Bw] = -held * self.kept_for_weights
        return table

    def weight_memory(self, num_stages: int) -> FloatArray:
        return _per_stage("weights", self.weights, num_stages)


def _per_stage(name: str, value: PerStage, num_stages: int) -> FloatArray:
    array = np.asarray(value, dtype=np.float64)
    if array.ndim and array.shape != (num_stages,):
        raise ValueError(f"{name} has {array.size} values for a schedule of {num_stages} stages")
    if not np.all(np.isfinite(array)) or np.any(array < 0):
        raise ValueError(f"{name} must be finite and at least 0, not {value}")
    return np.broadcast_to(array, (num_stages,))
