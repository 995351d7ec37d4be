"""Orders the fragments of a pipelined program by a schedule."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.functions import entry_block
from mpmd.passes.base import FunctionPass, PassFailure, option
from mpmd.passes.optimize._order import Cycle, ProgramOrder
from mpmd.passes.optimize._recorded_order import record_order
from mpmd.passes.optimize._relaxing import in_rounds, outermost
from mpmd.passes.optimize._scheduling_units import Unit, schedulable_meshes, scheduling_units
from mpmd.passes.optimize._task_order import numbered, ordered_groups, schedule_for
from mpmd.schedules.check import ScheduleError, check
from mpmd.schedules.registry import require_name, splits_backward
from mpmd.schedules.schedule import Schedule

_BUILTIN, _TABLE = "builtin:", "table:"


def _parse(text: str) -> str:
    """Checks an order: `builtin:NAME`, or `table:` and the rows of a schedule between bars."""
    if text.startswith(_TABLE):
        _read_table(text)
        return text
    if not text.startswith(_BUILTIN):
        raise ValueError(
            f"'{text}' is neither '{_BUILTIN}' and the name of a schedule nor '{_TABLE}' and its "
            "tasks"
        )
    name = text.removeprefix(_BUILTIN)
    name = "None" if name.lower() == "none" else name
    require_name(name)
    return _BUILTIN + name


def _read_table(text: str) -> Schedule:
    rows = [row.split() for row in text.removeprefix(_TABLE).split("|")]
    schedule = Schedule.from_table(rows)
    check(schedule)
    return schedule


class Relaxation(Enum):
    """How much of a program a schedule orders."""

    NONE = auto()
    ROUNDS = auto()
    OUTERMOST = auto()


_RELAXATIONS = tuple(Relaxation)


def parse_on_cycle(text: str) -> str:
    """Checks what to do about a cycle; raises ValueError."""
    if text not in ("fail", "relax", "skip"):
        raise ValueError(f"'{text}' is none of 'fail', 'relax' and 'skip'")
    return text


def order_option(schedule: str | Schedule) -> str:
    """Returns the value of `must-happen-before` for the name of a schedule or a schedule."""
    if isinstance(schedule, str):
        return _parse(_BUILTIN + schedule)
    return _TABLE + " | ".join(" ".join(map(str, row)) for row in schedule)


def wants_split_backward(schedule: str) -> bool:
    """Tells whether a schedule, by name or as a table, has tasks of half a backward."""
    if schedule.startswith(_TABLE):
        return _read_table(schedule).splits_backward
    return splits_backward(_parse(_BUILTIN + schedule).removeprefix(_BUILTIN))


@dataclass(frozen=True)
class PipelineScheduler(FunctionPass):
    """Orders the fragments of every mesh by a pipeline schedule.

    A schedule says in which order each mesh runs forward and backward computations of which
    microbatch. That order joins the dependencies between values, and the program is sorted by
    both; what neither concerns stays where it is.

        f(0), f'(0), f(1), f'(1), f(2), f'(2)      on mesh 0 of 2, must-happen-before=builtin:1F1B
      ~~>
        f(0), f(1), f'(0), f(2), f'(1), f'(2)

    Ordered are user fragments with a call counter whose origins are all forward or all backward.
    A schedule with one stage per mesh takes all of them that are on a mesh as one stage; otherwise
    the stages of the mesh are told apart by their ids. Several fragments of one task keep their
    order. An order that the data contradict is an error that names the tasks, unless `on-cycle`
    says otherwise.
    """

    name: ClassVar[str] = "mpmd-pipeline-scheduler"

    must_happen_before: str = option(
        "builtin:None",
        "The order: 'builtin:' and the name of a schedule, or 'table:' and the tasks of each mesh, "
        "meshes separated by '|'.",
        parse=_parse,
    )
    remove_control_dependencies: bool = option(
        True, "Forget the order when done, instead of leaving it for mpmd-rule-based-merge to keep."
    )

    on_cycle: str = option(
        "fail",
        "Where the data contradict the order: 'fail', or 'relax' it to the steps of the program "
        "one by one and to where a microbatch enters and leaves a mesh, or if that fails 'skip'.",
        parse=parse_on_cycle,
    )

    def run_on_function(self, func: ir.Operation) -> None:
        failure: PassFailure | None = None
        for relaxation in _RELAXATIONS if self.on_cycle != "fail" else _RELAXATIONS[:1]:
            order = ProgramOrder(entry_block(func))
            chains = self._chains(func, order, relaxation)
            for groups in chains:
                order.add_chain(groups)
            try:
                order.sort()
            except Cycle as cycle:
                failure = failure or cycle.failure(func, "scheduled")
                continue
            if not self.remove_control_dependencies:
                record_order(order, chains)
            return
        if failure is not None and self.on_cycle != "skip":
            raise failure

    def _chains(
        self, func: ir.Operation, order: ProgramOrder, relaxation: Relaxation
    ) -> list[list[list[int]]]:
        """Returns what the schedule puts one after the other, on every mesh of every round."""
        units, meshes = list(scheduling_units(order.ops)), schedulable_meshes(func)
        chains: list[list[list[int]]] = []
        try:
            for each in [units] if relaxation is Relaxation.NONE else in_rounds(order, units):
                schedule, some = self._schedule(each, meshes)
                if schedule is None:
                    continue
                if relaxation is Relaxation.OUTERMOST:
                    some = outermost(order, some, schedule.num_stages > schedule.num_meshes)
                chains += ordered_groups(schedule, some, meshes)
        except (ScheduleError, ValueError) as error:
            raise PassFailure(func, str(error)) from None
        return chains

    def _schedule(self, units: list[Unit], meshes: list[str]) -> tuple[Schedule | None, list[Unit]]:
        """Returns the schedule for some units, and the units with its numbers of microbatches."""
        if self.must_happen_before.startswith(_TABLE):
            return _read_table(self.must_happen_before), units
        name = self.must_happen_before.removeprefix(_BUILTIN)
        units = numbered(units)
        return schedule_for(name, units, meshes) if units else None, units
