"""Prints diagnostics as MLIR's own tools do: file, line, column, message, source line, caret."""

from __future__ import annotations

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.diagnostics import Diagnostic

SHOWS_OP = "see current operation"
"""How the notes begin that MLIR adds to the errors of its operations."""
_LONGEST_QUOTE = 2000


def file_location(location: ir.Location) -> tuple[str, int, int] | None:
    """Returns (file, line, column) of the innermost place in a file that `location` holds."""
    if isinstance(location, ir.FileLineColLoc):
        return str(location.filename), location.start_line, location.start_col
    if isinstance(location, ir.NameLoc):
        return file_location(location.child_loc)
    if isinstance(location, ir.CallSiteLoc):
        return file_location(location.callee) or file_location(location.caller)
    if isinstance(location, ir.FusedLoc):
        for inner in location.locations:
            found = file_location(inner)
            if found is not None:
                return found
    return None


class Source:
    """The text that a module was read from, to quote the lines that diagnostics point at."""

    def __init__(self, path: str, text: str | None, first_line: int) -> None:
        self.path = "<stdin>" if path == "-" else path
        self.first_line = first_line
        self._lines = text.split("\n") if text is not None else []

    def line(self, number: int) -> str | None:
        """Returns a line of the file, or None where it is not ours to show."""
        index = number - self.first_line
        return self._lines[index] if 0 <= index < len(self._lines) else None

    def place(self, location: ir.Location) -> tuple[str, int, int] | None:
        """Returns where `location` is; the parser calls the file that it reads `-`."""
        found = file_location(location)
        if found is None:
            return None
        file, line, column = found
        return (self.path, line + self.first_line - 1, column) if file == "-" else found

    def render(self, diagnostic: Diagnostic, show_op: bool = True) -> str:
        """Returns the diagnostic and its notes, without those that show operations if not asked."""
        parts = [self._one(diagnostic.severity, diagnostic.location, diagnostic.message)]
        for place, text in diagnostic.notes:
            if show_op or not text.startswith(SHOWS_OP):
                parts.append(self._one("note", place, text))
        return "".join(parts)

    def _one(self, severity: str, location: ir.Location, message: str) -> str:
        place = self.place(location)
        if place is None:
            text = str(location).removeprefix("loc(").removesuffix(")")
            where = "" if text == "unknown" else f"{text}: "
            return f"{where}{severity}: {message}\n"
        file, line, column = place
        out = f"{file}:{line}:{column}: {severity}: {message}\n"
        quoted = self.line(line) if file == self.path else None
        if quoted is not None and len(quoted) <= _LONGEST_QUOTE:
            out += f"{quoted}\n{' ' * (column - 1)}^\n"
        return out
