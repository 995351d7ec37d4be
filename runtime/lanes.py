"""Lanes: one issuing thread per set of devices, shared by every program of the process.

All programs that run on a set of devices are enqueued by the thread of its lane, in the order in
which steps were submitted; sets of devices that overlap share a lane. So two programs can never
enqueue collectives in opposite orders, whichever threads call them. Steps are put on all their
lanes at once, under one lock, so that lanes agree on the order of steps and cannot wait for each
other in a circle.
"""

from __future__ import annotations

import atexit
import collections
import queue
import threading
from collections.abc import Iterable
from typing import Any, Protocol

# On JAX 0.10 a CPU program over several devices hangs once some 35 of its calls are enqueued and
# nobody waits: all threads of XLA's pool then wait for each other. Eight calls keep devices busy.
MULTI_DEVICE_LIMIT = 8
# One device has no such trap; XLA itself blocks the 33rd call.
ONE_DEVICE_LIMIT = 24

_DRAIN_TIMEOUT = 60.0
_SHUTDOWN_TIMEOUT = 2.0


class Job(Protocol):
    """What a lane executes: its part of a step."""

    def run(self, lane: Lane) -> None:
        """Issues everything; must not raise."""


class Issued(Protocol):
    """Who learns that an execution failed after it was issued."""

    def failed_later(self, label: str, error: Exception) -> None:
        """Takes note of the failure of the execution that `label` describes."""


class Lane:
    """A queue of jobs, the thread that executes them, and what it issued and has not seen end."""

    def __init__(self, devices: frozenset[Any]) -> None:
        self.devices = devices
        self.limit = MULTI_DEVICE_LIMIT if len(devices) > 1 else ONE_DEVICE_LIMIT
        self.in_flight: collections.deque[tuple[Any, Issued, str]] = collections.deque()
        # Where the thread is, for the watchdog: the job, and the number of its instruction.
        self.job: Job | None = None
        self.position = 0
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def __repr__(self) -> str:
        """Returns a short name."""
        return f"lane of devices {sorted(device.id for device in self.devices)}"

    def submit(self, job: Job) -> None:
        """Queues a job. Call only under the lock of the registry."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name=repr(self), daemon=True)
            self._thread.start()
        self._jobs.put(job)

    def make_room(self) -> None:
        """Waits for the oldest executions until another one may be issued."""
        while len(self.in_flight) >= self.limit:
            token, owner, label = self.in_flight.popleft()
            try:
                token.block_until_ready()
            except Exception as error:
                owner.failed_later(label, error)

    def stop(self) -> None:
        """Ends the thread after the jobs already queued."""
        self._jobs.put(None)

    def join(self, timeout: float | None = None) -> None:
        """Waits for the thread to end."""
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            self.job = job
            job.run(self)
            # The arrays of a step must not live until the next one comes.
            self.job = job = None


class Registry:
    """Which lane serves which device. There is one for the process; tests make their own."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.generation = 0
        self._lane_of: dict[Any, Lane] = {}

    def lane(self, device: Any) -> Lane:
        """Returns the lane that serves a device."""
        return self._lane_of[device]

    def prepare(self, device_sets: Iterable[Iterable[Any]]) -> None:
        """Makes every set of devices belong to one lane, merging lanes where sets overlap.

        Programs whose streams were cut for lanes that were merged see another generation and cut
        them anew.
        """
        with self.lock:
            for devices in device_sets:
                wanted = frozenset(devices)
                lanes = {self._lane_of[device] for device in wanted if device in self._lane_of}
                if len(lanes) == 1 and wanted <= next(iter(lanes)).devices:
                    continue
                self._merge(wanted, lanes)

    def replace(self, lane: Lane) -> None:
        """Abandons a lane whose thread is stuck in an execution that does not end."""
        with self.lock:
            lane.stop()
            fresh = Lane(lane.devices)
            self._lane_of.update(dict.fromkeys(lane.devices, fresh))
            self.generation += 1

    def shutdown(self) -> None:
        """Ends all threads; the registry can be used again."""
        with self.lock:
            lanes = set(self._lane_of.values())
            self._lane_of.clear()
            self.generation += 1
        for lane in lanes:
            lane.stop()
        for lane in lanes:
            lane.join(timeout=_SHUTDOWN_TIMEOUT)

    def _merge(self, wanted: frozenset[Any], lanes: set[Lane]) -> None:
        merged = Lane(wanted.union(*(lane.devices for lane in lanes)))
        for lane in lanes:
            lane.stop()
        for lane in lanes:
            # A lane that does not end in this time is stuck, which is for the watchdog to report.
            lane.join(timeout=_DRAIN_TIMEOUT)
            merged.in_flight.extend(lane.in_flight)
        self._lane_of.update(dict.fromkeys(merged.devices, merged))
        if lanes:
            self.generation += 1


REGISTRY = Registry()
atexit.register(REGISTRY.shutdown)
