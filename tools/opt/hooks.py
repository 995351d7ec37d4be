"""What `mpmd-opt` does around each pass: print the module, measure time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TextIO

from mpmd.dialect._jaxlib import ir
from mpmd.passes.base import Pass, Pipeline


class PrintIR:
    """Prints the module before and after passes; a set of None stands for all of them."""

    def __init__(
        self, stderr: TextIO, before: frozenset[str] | None, after: frozenset[str] | None
    ) -> None:
        self._stderr, self._before, self._after = stderr, before, after

    @property
    def wanted(self) -> bool:
        """Whether there is anything to print."""
        return self._before != frozenset() or self._after != frozenset()

    def before(self, pass_: Pass, module: ir.Operation) -> None:
        """Prints the module if this pass was asked for."""
        self._print("Before", self._before, pass_, module)

    def after(self, pass_: Pass, module: ir.Operation) -> None:
        """Prints the module if this pass was asked for."""
        self._print("After", self._after, pass_, module)

    def _print(
        self, when: str, names: frozenset[str] | None, pass_: Pass, module: ir.Operation
    ) -> None:
        name = str(pass_) if pass_.name == "cpp" else pass_.name
        if names is None and isinstance(pass_, Pipeline):
            return  # its passes are printed one by one
        if names is None or name in names or name.partition("{")[0] in names:
            self._stderr.write(f"// -----// IR Dump {when} {name} //----- //\n{module}\n")


class Noting:
    """Says which pass is running, and on what."""

    def __init__(self, note: Callable[[str], None], what: str) -> None:
        self._note, self._what = note, what

    def before(self, pass_: Pass, module: ir.Operation) -> None:
        """Says that the pass runs; its name may be long."""
        self._note(f"running {pass_} on {self._what}")

    def after(self, pass_: Pass, module: ir.Operation) -> None:
        """Says that the result of the pass is in use."""
        self._note(f"verifying {self._what} after {pass_}")


class Timing:
    """Adds up the seconds that each pass takes."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}
        self._started: list[float] = []

    def before(self, pass_: Pass, module: ir.Operation) -> None:
        """Starts the clock of this pass."""
        self._started.append(time.perf_counter())

    def after(self, pass_: Pass, module: ir.Operation) -> None:
        """Stops the clock of this pass."""
        elapsed = time.perf_counter() - self._started.pop()
        if not isinstance(pass_, Pipeline):
            name = str(pass_)
            self._seconds[name] = self._seconds.get(name, 0.0) + elapsed

    def report(self) -> str:
        """Returns a table, the slowest pass first."""
        total = sum(self._seconds.values())
        lines = [f"===- Pass execution timing: {total:.4f} s -==="]
        for name, seconds in sorted(self._seconds.items(), key=lambda item: -item[1]):
            share = 100 * seconds / total if total else 0.0
            lines.append(f"  {seconds:9.4f} s ({share:5.1f} %)  {name}")
        return "\n".join(lines) + "\n"
