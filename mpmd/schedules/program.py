"""Simulates a partitioned program: any computations in any order, not only a schedule's tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mpmd.schedules.costs import Costs, FloatArray
from mpmd.schedules.grid import Box
from mpmd.schedules.report import ScheduleReport
from mpmd.schedules.task import Kind, Task


@dataclass(frozen=True, slots=True)
class Piece:
    """A computation of a program.

    `parts` says what it does of its stage and microbatch, both halves of a merged forward and
    backward for example. A piece without parts belongs to no microbatch and takes no time.
    """

    mesh: int
    parts: tuple[Kind, ...] = ()
    stage: int = 0
    microbatch: int = 0
    needs: tuple[int, ...] = ()
    """What it takes results of: indices of pieces before it."""
    is_rematerialized: bool = False
    """Whether its forward was computed before, and what that made was not kept."""

    @property
    def text(self) -> str:
        """How a grid names it."""
        return "+".join(str(Task(self.stage, kind, self.microbatch)) for kind in self.parts)

    @property
    def task(self) -> tuple[int, int]:
        """Stage and microbatch."""
        return self.stage, self.microbatch


def report_on_program(
    title: str,
    meshes: Sequence[str],
    pieces: Sequence[Piece],
    costs: Costs | None = None,
    note: str = "",
) -> ScheduleReport:
    """Runs the pieces of every mesh in their order, each as early as it can.

    Several pieces that do the same of a stage and microbatch share its cost.
    """
    costs = costs or Costs()
    if costs.link is not None or costs.overlapped is not None:
        raise ValueError("shared links and overlapped pairs are for schedules, not for programs")
    num_stages = 1 + max((piece.stage for piece in pieces), default=0)
    duration = _durations(pieces, costs.durations(num_stages))
    start, end, cause = _run(pieces, len(meshes), duration, costs.transfers(num_stages))
    worked = [index for index in range(len(pieces)) if duration[index] > 0]
    worked.sort(key=lambda index: pieces[index].mesh)
    span, busy = _spans(pieces, worked, start, end, len(meshes))
    step_time = float(span.max(initial=0.0))
    box_of = {index: number for number, index in enumerate(worked)}
    return ScheduleReport(
        title=title,
        meshes=tuple(meshes),
        boxes=tuple(
            Box(pieces[i].mesh, pieces[i].text, float(start[i]), float(end[i]), pieces[i].parts)
            for i in worked
        ),
        step_time=step_time,
        makespan=float(end.max(initial=0.0)),
        bubble=tuple((step_time - busy).tolist()),
        peak_memory=tuple(_peak_memory(pieces, costs, num_stages, len(meshes)).tolist()),
        critical_boxes=tuple(box_of[i] for i in _chain(end, cause) if i in box_of),
        simulate_again=lambda other: report_on_program(title, meshes, pieces, other, note),
        note=note,
    )


def _durations(pieces: Sequence[Piece], table: FloatArray) -> FloatArray:
    sharing = _sharing(pieces)
    return np.array(
        [
            sum(table[piece.stage, kind] / sharing[_share(piece, kind)] for kind in piece.parts)
            for piece in pieces
        ],
        dtype=float,
    )


def _share(piece: Piece, kind: Kind) -> tuple[int, int, Kind, bool]:
    return (*piece.task, kind, kind is Kind.F and piece.is_rematerialized)


def _sharing(pieces: Sequence[Piece]) -> Counter[tuple[int, int, Kind, bool]]:
    """Counts the pieces that do the same of a stage and microbatch."""
    return Counter(_share(piece, kind) for piece in pieces for kind in piece.parts)


def _run(
    pieces: Sequence[Piece], num_meshes: int, duration: FloatArray, transfers: FloatArray
) -> tuple[FloatArray, FloatArray, list[int]]:
    """Returns the start and end of every piece, and the piece before that it waited for last."""
    start, end = np.zeros(len(pieces)), np.zeros(len(pieces))
    cause = [-1] * len(pieces)
    last = [-1] * num_meshes
    for index, piece in enumerate(pieces):
        before = last[piece.mesh]
        if before >= 0:
            start[index], cause[index] = end[before], before
        for need in piece.needs:
            made_by = pieces[need]
            arrival = end[need]
            if made_by.mesh != piece.mesh and made_by.parts:
                arrival += transfers[made_by.stage, made_by.parts[-1]]
            if arrival > start[index] or cause[index] < 0:
                start[index], cause[index] = arrival, need
        end[index] = start[index] + duration[index]
        last[piece.mesh] = index
    return start, end, cause


def _spans(
    pieces: Sequence[Piece],
    worked: Sequence[int],
    start: FloatArray,
    end: FloatArray,
    num_meshes: int,
) -> tuple[FloatArray, FloatArray]:
    """Returns for each mesh the time from its first start to its last end, and its busy time."""
    first, final = np.full(num_meshes, np.inf), np.zeros(num_meshes)
    busy = np.zeros(num_meshes)
    for index in worked:
        mesh = pieces[index].mesh
        first[mesh] = min(first[mesh], start[index])
        final[mesh] = max(final[mesh], end[index])
        busy[mesh] += end[index] - start[index]
    return np.where(first < np.inf, final - first, 0.0), busy


def _peak_memory(
    pieces: Sequence[Piece], costs: Costs, num_stages: int, num_meshes: int
) -> FloatArray:
    """Returns what each mesh holds at most: weights, and activations until their last use."""
    held = costs.memory(num_stages)[:, Kind.F]
    sharing = _sharing(pieces)
    last = {piece.task: index for index, piece in enumerate(pieces) if piece.parts}
    computed_again = {piece.task for piece in pieces if piece.is_rematerialized}
    weights = costs.weight_memory(num_stages)
    homes = {(piece.mesh, piece.stage) for piece in pieces if piece.parts}
    now = np.zeros(num_meshes)
    for mesh, stage in homes:
        now[mesh] += weights[stage]
    peak = now.copy()
    live: Counter[tuple[int, int]] = Counter()
    for index, piece in enumerate(pieces):
        change = 0.0
        if Kind.F in piece.parts:
            change = float(held[piece.stage] / sharing[_share(piece, Kind.F)])
        peak[piece.mesh] = max(peak[piece.mesh], now[piece.mesh] + change)
        if piece.task in computed_again and not piece.is_rematerialized and Kind.F in piece.parts:
            change = 0.0  # what it made is dropped at once
        remains = live[piece.task] + change
        if Kind.Bi in piece.parts:
            remains *= costs.kept_for_weights
        if piece.parts and last[piece.task] == index:
            remains = 0.0
        if piece.parts:
            now[piece.mesh] += remains - live[piece.task]
            live[piece.task] = remains  # type: ignore[assignment]
    return peak


def _chain(end: FloatArray, cause: Sequence[int]) -> list[int]:
    """Returns the pieces that determine the last end, first to last."""
    index = int(np.argmax(end)) if len(end) else -1
    chain = []
    while index >= 0:
        chain.append(index)
        index = cause[index]
    return chain[::-1]
