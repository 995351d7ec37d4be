"""Turns a crash of C++ code into a message.

MLIR takes invalid input seriously but not always: some verifiers read what is not there, recursion
overflows the stack, and checks of their own end the process. A tool must not die of its input,
so the work is done in a child process, and the parent, which has loaded none of that, waits.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import signal
import sys
from collections.abc import Callable

Note = Callable[[str], None]
"""Records what is being done, to be told in the message about a crash."""

_CRASHES = frozenset(
    getattr(signal, name)
    for name in ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGFPE", "SIGTRAP", "SIGKILL")
    if hasattr(signal, name)
)
_LONGEST_NOTE = 4000
_KILL_WITH_PARENT = 1  # PR_SET_PDEATHSIG of Linux


def guarded(work: Callable[[Note], int]) -> int:
    """Runs `work` in a child process; returns its exit code, or 1 with a message if it crashes."""
    if not hasattr(os, "fork"):
        return work(lambda text: None)
    memory = mmap.mmap(-1, _LONGEST_NOTE + 4)
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        _end_with(parent)
        return work(lambda text: _write(memory, text))
    # Whoever interrupts a terminal's programs reaches the child, too; it has the message to say.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda number, frame: os.kill(child, number))
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status >= 0:
        return status
    if -status not in _CRASHES:
        return 128 - status
    doing = _read(memory)
    name = signal.Signals(-status).name
    sys.stderr.write(f"mpmd-opt: error: MLIR crashed ({name}) while {doing}\n")
    return 1


def _end_with(parent: int) -> None:
    """Makes this process end when its parent does, where the system can."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_KILL_WITH_PARENT, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def _write(memory: mmap.mmap, text: str) -> None:
    data = text.encode(errors="replace")[:_LONGEST_NOTE]
    memory[: 4 + len(data)] = len(data).to_bytes(4, "little") + data


def _read(memory: mmap.mmap) -> str:
    length = int.from_bytes(memory[:4], "little")
    return memory[4 : 4 + length].decode(errors="replace") or "starting"
