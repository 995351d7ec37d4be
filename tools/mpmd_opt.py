"""`mpmd-opt`: runs passes over MLIR modules."""

from __future__ import annotations

import sys
from collections.abc import Callable

from mpmd.tools.opt.guard import guarded


def main() -> int:
    """Runs the driver on the arguments of this process; returns the exit code."""
    return guarded(_drive)


def _drive(note: Callable[[str], None]) -> int:
    from mpmd.tools.opt.driver import Driver

    return Driver(sys.stdin.buffer, sys.stdout.buffer, sys.stderr, note).run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
