"""Planning time: generating, checking and simulating schedules far larger than any machine at hand.

Each schedule has a process of its own, whose peak memory is reported. The aim, at 4096 meshes and
1024 microbatches: under 60 s and under 2 GB. There is no reference to measure against.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import multiprocessing
import platform
import resource
import time

from mpmd.schedules import build, check, simulate
from mpmd.schedules.registry import FAMILIES

SIZES = {"smoke": (16, 24), "default": (4096, 1024)}
DEFAULT = ("1F1B", "GPipe", "Interleaved1F1B", "ZeroBubbleH1", "ZBV")
STAGES_PER_MESH = 2  # of schedules that take any number
AIM_SECONDS, AIM_MEGABYTES = 60.0, 2000.0


def measure(name: str, meshes: int, microbatches: int) -> dict[str, float | str]:
    """Returns the seconds of each phase, and the peak memory of this process."""
    start, used = time.perf_counter(), time.process_time()
    schedule = build(name, meshes, microbatches, FAMILIES[name].stages_per_mesh or STAGES_PER_MESH)
    assert schedule is not None
    built = time.perf_counter()
    check(schedule)
    checked = time.perf_counter()
    timeline = simulate(schedule, checked=True)
    bubble, peak = timeline.bubble_fraction, float(timeline.peak_memory.max())
    end = time.perf_counter()
    return {
        "schedule": name,
        "meshes": meshes,
        "microbatches": microbatches,
        "tasks": len(schedule),
        "generate": built - start,
        "check": checked - built,
        "simulate": end - checked,
        "total": end - start,
        "cpu": time.process_time() - used,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "bubble": bubble,
        "peak_memory": peak,
    }


def main() -> None:
    """Measures and prints one line a schedule."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="every schedule, but small")
    parser.add_argument("--all", action="store_true", help="every schedule")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    meshes, microbatches = SIZES["smoke" if options.smoke else "default"]
    names = tuple(FAMILIES) if options.smoke or options.all else DEFAULT
    results = []
    for name in names:
        # A new process, as the peak of memory never goes down again in one.
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            result = pool.apply(measure, (name, meshes, microbatches))
        results.append(result)
        if not options.json:
            print(
                "{schedule:31} {meshes} x {microbatches}  {tasks:9} tasks  "
                "generate {generate:5.1f} s  check {check:5.1f} s  simulate {simulate:5.1f} s  "
                "total {total:5.1f} s ({cpu:.1f} s CPU)  {megabytes:5.0f} MB".format(**result),
                flush=True,
            )
    versions = {
        "python": platform.python_version(),
        "numpy": importlib.metadata.version("numpy"),
        "date": time.strftime("%Y-%m-%d"),
    }
    if options.json:
        print(json.dumps({"versions": versions, "results": results}, indent=2))
    elif not options.smoke:
        fits = all(r["total"] < AIM_SECONDS and r["megabytes"] < AIM_MEGABYTES for r in results)
        print(f"aim of {AIM_SECONDS:g} s and {AIM_MEGABYTES:g} MB: {'met' if fits else 'missed'}")
        print(", ".join(f"{key} {value}" for key, value in versions.items()))


if __name__ == "__main__":
    main()
