"""What can go wrong, as classes.

Compile-time problems are `PartitionError`s or `LabelError`s, which are ValueErrors; they never wait
for run time.
"""

from __future__ import annotations


class MpmdError(Exception):
    """The base of all errors of this package."""


class LabelError(MpmdError, ValueError):
    """A label stands where it cannot be given a mesh."""


class PartitionError(MpmdError, ValueError):
    """The program cannot be partitioned as configured."""


class ArgumentError(MpmdError, TypeError, ValueError):
    """A compiled function got an argument that does not fit its signature."""


def __getattr__(name: str) -> type:
    """Finds the errors of the runtime, which is imported only when somebody asks for one."""
    if name in ("ExecutionError", "LoadError", "StepCancelled"):
        from mpmd.runtime import errors

        found: type = getattr(errors, name)
        return found
    raise AttributeError(f"module 'mpmd.errors' has no attribute {name!r}")
