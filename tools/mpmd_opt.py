"""`mpmd-opt`: runs passes over MLIR modules."""

from __future__ import annotations

import sys


def main() -> int:
    """Runs the driver on the arguments of this process; returns the exit code."""
    from mpmd.tools.opt.driver import Driver

    return Driver(sys.stdin.buffer, sys.stdout.buffer, sys.stderr).run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
