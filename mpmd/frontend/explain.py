"""Turns what passes say about a module into what a user of JAX can act on."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.diagnostics import Diagnostic

_LINE = re.compile(r'"([^"]+\.py)":(\d+)')

# What to do about it, where the message, which is also for people who run passes, does not say.
_REMEDIES = {
    "is not assigned to a mesh": "Add the label to name_to_mesh_assignment of mpmd.make_config.",
    "Cycle detected in the program": (
        "The schedule asks for an order that the data do not allow: choose another "
        "pipeline_schedule, such as 'GPipe', or give none."
    ),
    "cannot have more than one fragment with the same mesh": (
        "What a stage does for a microbatch must be one contiguous computation: give labels that "
        "come later a stage of their own, and calls of different functions different call_counters."
    ),
    "which has a different mesh or stage assignment": (
        "Put it outside of the label around it, or assign both to one mesh and stage."
    ),
}


def explain(diagnostics: Sequence[Diagnostic]) -> str:
    """Returns what went wrong, where in the user's source, and what to do."""
    lines = []
    for each in diagnostics:
        parts = [(each.location, each.message), *each.notes]
        lines += [_shorten(text.rstrip("\n")) + _source(location) for location, text in parts]
    text = "\n".join(lines)
    remedies = [remedy for sign, remedy in _REMEDIES.items() if sign in text]
    return "\n".join([text, *remedies])


def _source(location: ir.Location) -> str:
    found = _LINE.search(str(location))
    return f" ({found[1]}:{found[2]})" if found else ""


def _shorten(text: str) -> str:
    """Replaces each location in a message by the innermost line of the user's."""
    parts = text.split("loc(")
    done = [parts[0]]
    for part in parts[1:]:
        end = _closing(part)
        found = _LINE.search(part[:end])
        done.append(f"{found[1]}:{found[2]}" if found else part[:end])
        done.append(part[end + 1 :])
    return "".join(done)


def _closing(text: str) -> int:
    """Returns where the parenthesis closes that opened before the text."""
    depth, quoted = 1, False
    for position, character in enumerate(text):
        if character == '"':
            quoted = not quoted
        elif not quoted:
            depth += {"(": 1, ")": -1}.get(character, 0)
            if depth == 0:
                return position
    return len(text)
