"""`mpmd-schedule`: shows what a pipeline schedule does and costs, before anything runs."""

from __future__ import annotations

import sys


def main() -> int:
    """Runs the command on the arguments of this process; returns the exit code."""
    from mpmd.tools.schedule.command import run

    return run(sys.argv[1:], sys.stdout, sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
