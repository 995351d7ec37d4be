"""What can go wrong when a program is loaded or run."""

from __future__ import annotations

from mpmd.errors import ArgumentError, MpmdError

__all__ = ["ArgumentError", "ExecutionError", "LoadError", "StepCancelled"]


class LoadError(MpmdError, ValueError):
    """The program cannot run on these devices, or not at all."""


class ExecutionError(MpmdError, RuntimeError):
    """A step failed. The message names program, step, fragment and mesh; the cause is chained.

    Other steps, and other programs, are not affected. Arguments that the step had donated are gone.
    """


class StepCancelled(ExecutionError):
    """The step was given up because the caller was interrupted."""
