"""The command line of `mpmd-schedule`, and what it prints."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from mpmd.schedules import NAMES, Costs, Schedule, auto, build, report, simulate
from mpmd.schedules.registry import AUTO, FAMILIES, NONE
from mpmd.tools.schedule.compare import compare
from mpmd.tools.schedule.costs import add_options, read_costs

FAILED, INTERRUPTED = 1, 130  # exit codes; a wrong command line gives argparse's own, 2
MOST_TASKS = 100_000_000


def run(arguments: Sequence[str], out: TextIO, err: TextIO) -> int:
    """Runs the command; returns 0, 1 for what cannot be done, 2 for a wrong command line."""
    parser = _parser()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            options = parser.parse_args(arguments)
            _check_usage(parser, options)
    except SystemExit as exit_:
        return int(exit_.code or 0)
    try:
        out.write(_answer(options) + "\n")
        out.flush()
    except BrokenPipeError:  # a reader such as `head` has seen enough
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
        return FAILED
    except (ValueError, OSError) as error:
        err.write(f"mpmd-schedule: error: {error}\n")
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except MemoryError:
        err.write("mpmd-schedule: error: there is not enough memory for so many tasks\n")
        return FAILED
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "mpmd-schedule",
        description="Simulates a pipeline schedule and prints what each mesh does when (2F7 is the "
        "forward of stage 2 and microbatch 7, B a backward, Bi and Bw its halves), how much of "
        "the time is idle, how much memory is held, and the critical path.",
        epilog=f"Schedules: {', '.join(name for name in NAMES if name != NONE)}.",
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="the schedule")
    parser.add_argument("-p", "--meshes", type=_positive, metavar="N", help="number of meshes")
    parser.add_argument(
        "-m", "--microbatches", type=_positive, metavar="N", help="number of microbatches"
    )
    parser.add_argument(
        "-v",
        "--stages-per-mesh",
        type=_positive,
        metavar="N",
        help="stages on each mesh (default: the schedule's own number, or 1)",
    )
    parser.add_argument(
        "--table", metavar="FILE", help="a schedule of your own: lines 'mesh 0: 0F0 0B0', ..."
    )
    parser.add_argument("--compare", action="store_true", help="a line for every schedule")
    parser.add_argument(
        "--memory-limit", type=_above_zero, metavar="X", help="what a mesh can hold, for Auto"
    )
    parser.add_argument("--svg", metavar="FILE", help="draw it into a file, too")
    parser.add_argument("--unit", type=_above_zero, metavar="X", help="time of a column")
    parser.add_argument(
        "--columns", type=_positive, default=100, metavar="N", help="most columns (default 100)"
    )
    add_options(parser)
    return parser


def _check_usage(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    given = [what for what in ("name", "table", "compare") if getattr(options, what)]
    if len(given) != 1:
        parser.error("give one of NAME, --table FILE and --compare")
    if options.name is not None and options.name not in NAMES:
        parser.error(f"there is no schedule {options.name!r}; there are {', '.join(NAMES)}")
    if options.name == NONE:
        parser.error("None keeps the order of a program: there is nothing to show without one")
    sizes = ("meshes", "microbatches", "stages_per_mesh")
    if options.table:
        for size in sizes:
            if getattr(options, size) is not None:
                parser.error(f"--{size.replace('_', '-')} follows from the table")
    elif options.meshes is None or options.microbatches is None:
        parser.error("-p and -m are needed: the numbers of meshes and of microbatches")
    if options.memory_limit is not None and options.name != AUTO:
        parser.error(f"--memory-limit is for the schedule {AUTO}")
    if options.compare and options.svg:
        parser.error("--svg draws one schedule, not a comparison")


def _answer(options: argparse.Namespace) -> str:
    costs = read_costs(options)
    if options.compare:
        _check_size(options, options.stages_per_mesh or 2)
        return compare(options.meshes, options.microbatches, options.stages_per_mesh, costs)
    schedule = _schedule(options, costs)
    made = report(simulate(schedule, costs))
    if options.svg:
        made.to_svg(options.svg)
    grid = made.grid(options.unit, options.columns)
    return f"{made.title}\n\n{grid}\n\n{made.numbers()}"


def _schedule(options: argparse.Namespace, costs: Costs) -> Schedule:
    if options.table:
        return Schedule.parse(Path(options.table).read_text(encoding="utf-8"))
    per_mesh = options.stages_per_mesh
    if options.name == AUTO:
        per_mesh = per_mesh or 1
        _check_size(options, per_mesh)
        limit = float("inf") if options.memory_limit is None else options.memory_limit
        return auto(options.meshes, options.microbatches, per_mesh, costs=costs, memory_limit=limit)
    _check_size(options, per_mesh or FAMILIES[options.name].stages_per_mesh or 1)
    schedule = build(options.name, options.meshes, options.microbatches, per_mesh)
    assert schedule is not None
    return schedule


def _check_size(options: argparse.Namespace, per_mesh: int) -> None:
    tasks = 3 * options.meshes * options.microbatches * per_mesh
    if tasks > MOST_TASKS:
        raise ValueError(
            f"{options.meshes} meshes of {per_mesh} stages and {options.microbatches} microbatches "
            f"make up to {tasks} tasks; the most that is simulated is {MOST_TASKS}"
        )


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {value}")
    return value


def _above_zero(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be more than 0, not {text}")
    return value


_positive.__name__ = _above_zero.__name__ = "number"  # argparse says "invalid number value"
