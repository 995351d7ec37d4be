"""Ties between inputs and outputs, such as the parameters before and after a training step."""

from __future__ import annotations

import re

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.functions import function_type, symbol_name
from mpmd.passes.base import PassFailure

Constraints = tuple[tuple[int, int], ...]
"""(input number, output number) pairs."""


def parse_constraints(text: str) -> Constraints:
    """Reads `INPUT:OUTPUT` pairs, separated by commas; raises ValueError."""
    found = []
    for part in filter(None, (each.strip() for each in text.split(","))):
        match = re.fullmatch(r"(\d+)\s*:\s*(\d+)", part)
        if match is None:
            raise ValueError(f"'{part}' is not of the form INPUT:OUTPUT, two numbers")
        found.append((int(match[1]), int(match[2])))
    return tuple(found)


def format_constraints(constraints: Constraints) -> str:
    """Returns the text that `parse_constraints` reads."""
    return ",".join(f"{source}:{target}" for source, target in constraints)


def check(func: ir.Operation, constraints: Constraints) -> None:
    """Fails where a constraint names an input or output that `func` does not have."""
    type_ = function_type(func)
    for source, target in constraints:
        for what, number, count in (
            ("input", source, len(type_.inputs)),
            ("output", target, len(type_.results)),
        ):
            if number >= count:
                raise PassFailure(
                    func,
                    f"constraint {source}:{target} names {what} {number}, "
                    f"but @{symbol_name(func)} has {count} of them",
                )
