"""Checks diagnostics against `// expected-error {{...}}` comments (`-verify-diagnostics`)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mpmd.dialect.diagnostics import Diagnostic
from mpmd.tools.opt.render import SHOWS_OP, Source

_EXPECTATION = re.compile(
    r"expected-(?P<kind>error|note|remark|warning)(?P<regex>-re)?"
    r" *(?:@(?P<place>[+-]\d+|above|below|unknown))? *(?P<count>\d+)? *\{\{(?P<text>.*)\}\}$"
)


@dataclass
class _Expectation:
    kind: str
    line: int | None
    """Line of the file; None for a diagnostic without one."""
    text: str
    is_regex: bool
    written_at: int
    remaining: int

    def matches(self, kind: str, line: int | None, message: str) -> bool:
        if self.remaining == 0 or kind != self.kind or line != self.line:
            return False
        return bool(_pattern(self).search(message)) if self.is_regex else self.text in message


def _pattern(expectation: _Expectation) -> re.Pattern[str]:
    """Text in which `{{...}}` are regular expressions and the rest stands for itself."""
    out, rest = "", expectation.text
    while rest:
        literal, opened, rest = rest.partition("{{")
        out += re.escape(literal)
        if opened:
            regex, _, rest = rest.partition("}}")
            out += f"(?:{regex})"
    return re.compile(out, re.DOTALL)


def _read(source: Source, count: int) -> list[_Expectation]:
    """Reads the expectations of a part of `count` lines, with the lines that they speak of."""
    found: list[_Expectation] = []
    waiting: list[_Expectation] = []  # @below: the next line without an expectation
    last_plain: int | None = None  # @above: the last such line
    for number in range(source.first_line, source.first_line + count):
        line = (source.line(number) or "").rstrip()
        match = _EXPECTATION.search(line)
        if match is None:
            for expectation in waiting:
                expectation.line = number
            waiting = []
            last_plain = number
            continue
        place = match["place"]
        expectation = _Expectation(
            match["kind"],
            number,
            match["text"],
            bool(match["regex"]),
            number,
            int(match["count"] or 1),
        )
        if place == "unknown":
            expectation.line = None
        elif place == "above":
            expectation.line = last_plain
        elif place == "below":
            waiting.append(expectation)
        elif place:
            expectation.line = number + int(place)
        found.append(expectation)
    return found


def check(
    source: Source,
    line_count: int,
    diagnostics: Sequence[Diagnostic],
    only_expected: bool = False,
) -> list[str]:
    """Returns a message for every diagnostic not expected and every one that did not come.

    With `only_expected` a diagnostic that nothing expects is fine.
    """
    try:
        expectations = _read(source, line_count)
        return _compare(source, expectations, diagnostics, only_expected)
    except re.error as error:
        return [f"{source.path}: error: invalid regular expression in an expectation: {error}"]


def _compare(
    source: Source,
    expectations: list[_Expectation],
    diagnostics: Sequence[Diagnostic],
    only_expected: bool,
) -> list[str]:
    problems = []
    events = []
    for diagnostic in diagnostics:
        events.append((diagnostic.severity, diagnostic.location, diagnostic.message))
        events += [("note", place, text) for place, text in diagnostic.notes]
    for kind, location, message in events:
        place = source.place(location)
        line = None if place is None else place[1]
        for expectation in expectations:
            if expectation.matches(kind, line, message):
                expectation.remaining -= 1
                break
        else:
            if only_expected:
                continue
            if kind == "note" and message.startswith(SHOWS_OP):
                continue  # MLIR adds it to every error, and its own tools not when they verify
            where = f"{source.path}:{line}" if line is not None else source.path
            problems.append(f"{where}: error: unexpected {kind}: {message}")
    for expectation in expectations:
        if expectation.remaining:
            problems.append(
                f"{source.path}:{expectation.written_at}: error: expected {expectation.kind} "
                f'"{expectation.text}" was not produced'
            )
    return problems
