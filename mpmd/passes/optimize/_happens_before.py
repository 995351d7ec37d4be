"""Orders fragments by a predicate of the user's, which no text can hold: not a pass of mpmd-opt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.functions import entry_block
from mpmd.passes.base import FunctionPass, Option, PassFailure
from mpmd.passes.optimize._order import Cycle, ProgramOrder
from mpmd.passes.optimize._recorded_order import record_order
from mpmd.passes.optimize._scheduling_units import Unit, scheduling_units
from mpmd.schedules.happens_before import PredicateError, chains


@dataclass(frozen=True)
class OrderByPredicate(FunctionPass):
    """Orders the scheduling units of every mesh as a predicate says.

    The predicate gets what `describe` makes of two units of a mesh and says whether the first has
    to run before the second. `keeps_order` leaves the order for mpmd-rule-based-merge to keep.
    """

    name: ClassVar[str] = "mpmd-order-by-predicate"

    before: Callable[[Any, Any], bool] = field()
    describe: Callable[[Unit], Any] = field()
    keeps_order: bool = field(default=False)

    @classmethod
    def options(cls) -> list[Option]:
        return []

    def run_on_function(self, func: ir.Operation) -> None:
        order = ProgramOrder(entry_block(func))
        by_mesh: dict[str, list[Unit]] = {}
        for unit in scheduling_units(order.ops):
            by_mesh.setdefault(unit.mesh, []).append(unit)
        required = []
        for units in by_mesh.values():
            try:
                found = chains([self.describe(unit) for unit in units], self.before)
            except PredicateError as error:
                raise PassFailure(func, f"pipeline_schedule: {error}") from None
            required += [[[units[i].position for i in group] for group in c] for c in found]
        for chain in required:
            order.add_chain(chain)
        try:
            order.sort()
        except Cycle as cycle:
            raise cycle.failure(func, "scheduled") from None
        if self.keeps_order:
            record_order(order, required)
