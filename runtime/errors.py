"""What can go wrong when a program is loaded or run."""

from __future__ import annotations


class LoadError(ValueError):
    """The program cannot run on these devices, or not at all."""


class ArgumentError(ValueError):
    """An argument does not fit the program. Nothing has run, and nothing was donated."""


class ExecutionError(RuntimeError):
    """A step failed. The message names program, step, fragment and mesh; the cause is chained.

    Other steps, and other programs, are not affected. Arguments that the step had donated are gone.
    """


class StepCancelled(ExecutionError):
    """The step was given up, by an interrupt, or because its program was closed."""
