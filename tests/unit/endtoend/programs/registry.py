"""What a test program is, and the table of them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Program:
    """A function with arguments, and how it is cut."""

    fn: Callable[..., Any]
    args: tuple
    assignment: dict[str, Any]
    meshes: dict[str, tuple[tuple[str, int], ...]] = field(
        default_factory=lambda: {"m0": (("x", 2),), "m1": (("x", 2),)}
    )
    stages: dict[str, int] | None = None
    schedules: tuple[str | None, ...] = (None,)
    config: dict[str, Any] = field(default_factory=dict)
    jit: dict[str, Any] = field(default_factory=dict)
    """Further arguments of `mpmd.jit`; a callable gets the topology."""
    rtol: float = 2e-5
    kwargs: dict[str, Any] = field(default_factory=dict)


PROGRAMS: dict[str, Callable[[], Program]] = {}


def program(make: Callable[[], Program]) -> Callable[[], Program]:
    """Registers a function that makes a program, under its own name."""
    PROGRAMS[make.__name__] = make
    return make
