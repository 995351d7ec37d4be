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
