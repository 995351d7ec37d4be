"""Pipeline schedules as plain data: tasks, schedules, a checker and a simulator."""

from mpmd.schedules.check import ScheduleError, check
from mpmd.schedules.costs import Costs
from mpmd.schedules.grid import order_grid, time_grid
from mpmd.schedules.registry import NAMES, auto, build
from mpmd.schedules.report import ScheduleReport, report
from mpmd.schedules.schedule import Schedule
from mpmd.schedules.simulate import simulate
from mpmd.schedules.task import Kind, Task
from mpmd.schedules.timeline import Timeline

__all__ = [
    "NAMES",
    "Costs",
    "Kind",
    "Schedule",
    "ScheduleError",
    "ScheduleReport",
    "Task",
    "Timeline",
    "auto",
    "build",
    "check",
    "order_grid",
    "report",
    "simulate",
    "time_grid",
]
