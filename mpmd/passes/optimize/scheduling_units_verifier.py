"""Reports meshes on which a schedule will not find what it expects."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.diagnostics import report
from mpmd.dialect.functions import entry_block
from mpmd.passes.base import FunctionPass
from mpmd.passes.optimize._scheduling_units import schedulable_meshes, scheduling_units


@dataclass(frozen=True)
class SchedulingUnitsVerifier(FunctionPass):
    """Warns where a mesh does not have one forward and one backward unit per microbatch.

    Schedules are made for pipelines whose meshes each do the same number of forward and backward
    computations as there are microbatches. Others run as well, but maybe not in the intended time.
    Microbatches are counted from the highest call counter; without any there is nothing to check.
    Changes nothing.
    """

    name: ClassVar[str] = "mpmd-scheduling-units-verifier"

    def run_on_function(self, func: ir.Operation) -> None:
        ops = [op.operation for op in entry_block(func).operations]
        units = list(scheduling_units(ops))
        if not units:
            return
        expected = 1 + max(unit.microbatch for unit in units)
        found = Counter((unit.mesh, unit.is_forward) for unit in units)
        for mesh in schedulable_meshes(func):
            for direction, is_forward in (("forward", True), ("backward", False)):
                count = found[mesh, is_forward]
                if count != expected:
                    report(
                        "warning",
                        func,
                        f"Number of {direction} scheduling units in mesh {mesh} does not match "
                        f"expected number for {expected} microbatches. Got {count}.",
                    )
