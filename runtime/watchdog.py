"""Ends steps that make no progress, with a report of who waits for what, instead of hanging."""

from __future__ import annotations

import math
import threading
import time
from typing import Any

from mpmd.runtime.errors import ExecutionError
from mpmd.runtime.frame import Frame, Part
from mpmd.runtime.lanes import Lane, Registry

# How long a lane may take to notice that its step has failed before it counts as stuck for good.
_GRACE = 1.0


class Watchdog:
    """Watches the steps in flight from one thread, which sleeps while there are none."""

    def __init__(self) -> None:
        self._watched: dict[Frame, _Watch] = {}
        self._changed = threading.Condition()
        self._period = math.inf
        self._thread: threading.Thread | None = None

    def watch(self, frame: Frame, registry: Registry, timeout: float) -> None:
        """Starts to watch a step: it fails after `timeout` seconds without any progress."""
        with self._changed:
            self._watched[frame] = _Watch(registry, timeout)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._work, name="mpmd-watchdog", daemon=True
                )
                self._thread.start()
            elif _period(timeout) < self._period:
                self._changed.notify()

    def forget(self, frame: Frame) -> None:
        """Stops watching a step that is over."""
        self._watched.pop(frame, None)

    def _work(self) -> None:
        while True:
            with self._changed:
                periods = [_period(watch.timeout) for watch in list(self._watched.values())]
                self._period = min(periods, default=math.inf)
                self._changed.wait(self._period if periods else None)
                watched = list(self._watched.items())
            for frame, watch in watched:
                if watch.is_stalled(frame):
                    _end(frame, watch)
                    self.forget(frame)


def _period(timeout: float) -> float:
    """Returns how often to look at a step, in seconds; seldom, because looking costs the GIL."""
    return min(max(timeout / 4, 0.01), 5.0)


class _Watch:
    """When the lanes of a step were last seen to move."""

    def __init__(self, registry: Registry, timeout: float) -> None:
        self.registry = registry
        self.timeout = timeout
        self.seen: list[Any] = []
        self.since = time.monotonic()

    def is_stalled(self, frame: Frame) -> bool:
        """Whether no lane of the step has moved for too long, be it on an earlier step."""
        now = time.monotonic()
        places = [(track.lane.job, track.lane.position) for track in frame.tracks]
        if places != self.seen:
            self.seen, self.since = places, now
        return now - self.since > self.timeout


def _end(frame: Frame, watch: _Watch) -> None:
    places = [_place(track.lane, frame) for track in frame.tracks]
    report = "; ".join(text for text in places if text)
    frame.fail(ExecutionError(f"{frame.title} made no progress for {watch.timeout:g} s: {report}"))
    end = time.monotonic() + _GRACE
    while time.monotonic() < end and any(_is_on(track.lane, frame) for track in frame.tracks):
        time.sleep(0.01)
    for track in frame.tracks:
        if _is_on(track.lane, frame):
            watch.registry.replace(track.lane)
    frame.finish()


def _is_on(lane: Lane, frame: Frame) -> bool:
    return isinstance(lane.job, Part) and lane.job.frame is frame


def _place(lane: Lane, frame: Frame) -> str:
    job, position = lane.job, lane.position
    if not isinstance(job, Part):
        return ""
    other = "" if job.frame is frame else f" of {job.frame.title}"
    return f"the {lane} is at {job.where(position)}{other}"


WATCHDOG = Watchdog()
