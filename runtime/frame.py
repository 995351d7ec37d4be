"""One step of a program in flight: its values, the signals between its lanes, and its end."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax

from mpmd.runtime.errors import ExecutionError
from mpmd.runtime.lanes import Lane

logger = logging.getLogger("mpmd.runtime")

Instruction = Callable[["Frame"], None]


@dataclass(frozen=True)
class Track:
    """The instructions of one lane, with a description of each for reports."""

    lane: Lane
    instructions: Sequence[Instruction]
    labels: Sequence[str]


class Frame:
    """The state of one step. Every lane of the program runs its track over the same frame."""

    __slots__ = ("_done", "_lock", "_running", "edges", "error", "slots", "title", "tracks")

    def __init__(
        self, title: str, slots: list[Any], num_edges: int, tracks: Sequence[Track]
    ) -> None:
        self.title = title
        self.slots = slots
        self.tracks = tracks
        self.edges = [threading.Lock() for _ in range(num_edges)]
        for edge in self.edges:
            edge.acquire()
        self.error: BaseException | None = None
        self._lock = threading.Lock()
        self._running = len(tracks)
        self._done = threading.Event()
        if not tracks:
            self._done.set()

    def results(self, values: Sequence[int]) -> list[jax.Array]:
        """Waits until every lane has issued its part, and returns the given values.

        Issued, not executed: results are arrays whose values will come. They could not be returned
        sooner, because JAX makes an array only together with the execution that defines it. And
        little is lost: up to its limit of executions in flight every lane still has work when the
        caller goes on, so the next step is issued while devices are busy with this one.
        """
        self._done.wait()
        if self.error is not None:
            raise self.error
        results = [self.slots[value] for value in values]
        # Lanes remember the frame until they have seen the end of its executions.
        self.slots = []
        self.tracks = ()
        return results

    def fail(self, error: BaseException) -> None:
        """Ends the step: lanes stop before their next instruction. The first error is kept."""
        with self._lock:
            if self.error is not None:
                return
            self.error = error
        for edge in self.edges:
            # Wakes lanes that wait for one another; those signalled already are unlocked.
            if edge.locked():
                _release(edge)

    def failed_later(self, label: str, error: Exception) -> None:
        """Fails the step, or reports the failure if its caller has the results already."""
        with self._lock:
            over = self._running == 0
        failure = ExecutionError(f"{self.title} failed in {label}: {error}")
        failure.__cause__ = error
        if over:
            logger.error("%s (its results raise this error when they are used)", failure)
        else:
            self.fail(failure)

    def leave(self) -> None:
        """Notes that one lane has nothing left to do."""
        with self._lock:
            self._running -= 1
            last = self._running == 0
        if last:
            self.finish()

    def finish(self) -> None:
        """Lets the caller go on, also when a lane is stuck and will never leave."""
        if self.error is not None:
            self.slots = []
        self._done.set()


@dataclass(frozen=True, slots=True)
class Part:
    """The job of one lane in a step."""

    frame: Frame
    track: Track

    def run(self, lane: Lane) -> None:
        """Issues the instructions of the lane until the end, or until the step has failed."""
        frame = self.frame
        try:
            for lane.position, instruction in enumerate(self.track.instructions):
                if frame.error is not None:
                    break
                instruction(frame)
        except BaseException as error:
            frame.fail(self._describe(lane.position, error))
        finally:
            frame.leave()

    def where(self, position: int) -> str:
        """Returns what the instruction at `position` does, for reports."""
        return self.track.labels[position]

    def _describe(self, position: int, error: BaseException) -> ExecutionError:
        where = self.where(position)
        failure = ExecutionError(f"{self.frame.title} failed in {where}: {error}")
        failure.__cause__ = error
        return failure


def _release(edge: threading.Lock) -> None:
    try:
        edge.release()
    except RuntimeError:
        pass  # its own lane signalled in between
