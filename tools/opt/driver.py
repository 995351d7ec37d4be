"""The `mpmd-opt` driver: reads modules, runs passes over them, prints results and diagnostics."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO, TextIO

from mpmd.dialect import diagnostics
from mpmd.dialect._jaxlib import ir, make_context
from mpmd.dialect.diagnostics import Diagnostic
from mpmd.passes import wellformed
from mpmd.passes.base import PassFailure
from mpmd.passes.cpp import CppPass
from mpmd.passes.runner import Verify, instrument, run_passes
from mpmd.tools.opt import command_line, expectations, listing
from mpmd.tools.opt.command_line import Settings, UsageError
from mpmd.tools.opt.hooks import Noting, PrintIR, Timing
from mpmd.tools.opt.render import Source

_BYTECODE_MAGIC = b"ML\xefR"
_RANK = {"error": 0, "warning": 1, "remark": 2}
_VERBOSITY = {"errors": 0, "warnings": 1, "remarks": 2}
MAX_NESTING = 512
"""MLIR's parser recurses; deeper input than any real program would overflow the C stack."""


class Driver:
    """One run of the tool over the given streams."""

    def __init__(
        self,
        stdin: BinaryIO,
        stdout: BinaryIO,
        stderr: TextIO,
        note: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.stdin, self.stdout, self.stderr = stdin, stdout, stderr
        self.note = note
        """Is told what is being done, for whoever has to report a crash."""

    def run(self, arguments: Sequence[str]) -> int:
        """Returns the exit code: 0, or 1 with a message on stderr; never raises on bad input."""
        try:
            with make_context():
                settings = command_line.parse(arguments)
                return self._run(settings)
        except UsageError as error:
            return self._complain(str(error))
        except OSError as error:
            # A reader that went away, e.g. `mpmd-opt ... | head`, is not a failure worth a message.
            if isinstance(error, BrokenPipeError):
                sys.stdout = None  # type: ignore[assignment]
                return 1
            return self._complain(f"{error.filename or 'output'}: {error.strerror or error}")
        except KeyboardInterrupt:
            return self._complain("interrupted") + 129

    def _complain(self, message: str) -> int:
        self.stderr.write(f"mpmd-opt: error: {message}\n")
        return 1

    def _run(self, settings: Settings) -> int:
        answer = listing.answer(settings)
        if answer is not None:
            self.stdout.write(answer.encode())
            self.stdout.flush()
            return 0
        data = self._read(settings.input)
        timing = Timing() if settings.timing else None
        results, failed = [], False
        for part, first_line in _parts(data, settings.split_marker):
            output, ok = self._process(part, first_line, settings, timing)
            failed |= not ok
            if output is not None:
                results.append(output)
        self.stderr.flush()
        separator = f"{settings.split_marker}\n".encode() if settings.split_marker else b""
        self._write(settings.output, separator.join(results), failed)
        if timing is not None:
            self.stderr.write(timing.report())
        return int(failed)

    def _read(self, path: str) -> bytes:
        if path == "-":
            return self.stdin.read()
        with open(path, "rb") as file:
            return file.read()

    def _write(self, path: str, data: bytes, failed: bool) -> None:
        if path == "-":
            self.stdout.write(data)
            self.stdout.flush()
        elif not failed:  # as MLIR's tools: a file is only written when all went well
            with open(path, "wb") as file:
                file.write(data)

    def _process(
        self, data: bytes, first_line: int, settings: Settings, timing: Timing | None
    ) -> tuple[bytes | None, bool]:
        """Runs the passes over one module; returns its text where all went well, and whether."""
        text = None if data.startswith(_BYTECODE_MAGIC) else data.decode(errors="replace")
        source = Source(settings.input, text, first_line)
        with make_context() as context, ir.Location.unknown(context):
            context.allow_unregistered_dialects = settings.allow_unregistered
            context.emit_error_diagnostics = True
            # Threads of C++ that report errors would wait for Python, which waits for them.
            context.enable_multithreading(False)
            with _collected(context) as found:
                module = self._compute(data if text is None else text, settings, timing, source)
            if settings.verify_diagnostics:
                lines = 0 if text is None else text.count("\n") + 1
                problems = expectations.check(source, lines, found, settings.only_expected)
                self.stderr.write("".join(problem + "\n" for problem in problems))
                ok = not problems
            else:
                limit = _VERBOSITY[settings.verbosity]
                for diagnostic in found:
                    if _RANK.get(diagnostic.severity, 2) <= limit:
                        self.stderr.write(
                            source.render(diagnostic, settings.print_op_on_diagnostic)
                        )
                ok = module is not None
            return (None if module is None else _print(module, settings)), ok

    def _compute(
        self, data: str | bytes, settings: Settings, timing: Timing | None, source: Source
    ) -> ir.Module | None:
        """Returns the transformed module, or None after having reported why there is none."""
        place = ir.Location.file("-", 1, 1)
        if isinstance(data, str):
            depth_line = _too_deep(data)
            if depth_line:
                place = ir.Location.file("-", depth_line, 1)
                message = f"brackets nested deeper than {MAX_NESTING}"
                diagnostics.report("error", place, message)
                return None
            data = data.replace("\0", "\ufffd")
        self.note(f"reading and verifying the module at {source.path}:{source.first_line}")
        try:
            module = ir.Module.parse(data)
        except (ir.MLIRError, ValueError) as error:
            _report_unless_reported(error, place)
            return None
        hooks = _hooks(settings, timing, self.stderr)
        hooks.append(Noting(self.note, f"the module at {source.path}:{source.first_line}"))
        try:
            wellformed.check_signatures(module.operation)
            if not all(isinstance(pass_, CppPass) for pass_ in settings.passes):
                wellformed.check(module.operation)
            with instrument(*hooks):
                run_passes(module.operation, settings.passes)
            if not settings.passes or not settings.verify_each:
                module.operation.verify()
        except PassFailure as failure:
            _forward(failure.diagnostic)
            return None
        except ir.MLIRError as error:
            _report_unless_reported(error, module.operation.location)
            return None
        except RecursionError:
            diagnostics.report("error", place, "the module is nested too deeply")
            return None
        except Exception as error:
            if "MPMD_TRACEBACK" in os.environ:
                raise
            diagnostics.report(
                "error",
                module.operation.location,
                f"internal error, please report it: {type(error).__name__}: {error}"
                " (set MPMD_TRACEBACK=1 for the traceback)",
            )
            return None
        return module


def _parts(data: bytes, marker: str | None) -> Iterator[tuple[bytes, int]]:
    """Yields the modules in `data` with the line on which each starts."""
    if marker is None or data.startswith(_BYTECODE_MAGIC):
        yield data, 1
        return
    lines = data.split(b"\n")
    start = 0
    encoded = marker.encode()
    for number, line in enumerate(lines):
        if line.startswith(encoded):
            yield b"\n".join(lines[start:number]) + b"\n", start + 1
            start = number + 1
    yield b"\n".join(lines[start:]), start + 1


_BRACKET = re.compile(r"[(\[{<>}\])\n]")


def _too_deep(text: str) -> int:
    """Returns the line on which `text` nests deeper than the parser bears, or 0."""
    if max(map(text.count, "([{<")) <= MAX_NESTING:
        return 0
    depth, line = 0, 1
    for match in _BRACKET.finditer(text):
        char = match[0]
        if char == "\n":
            line += 1
        elif char in "([{<":
            depth += 1
            if depth > MAX_NESTING:
                return line
        elif not (char == ">" and text[match.start() - 1] == "-"):
            depth = max(depth - 1, 0)
    return 0


@contextlib.contextmanager
def _collected(context: ir.Context) -> Iterator[list[Diagnostic]]:
    """Yields all diagnostics, of C++ and of our passes, in the order in which they come."""
    with diagnostics.collect() as found:

        def handle(diagnostic: ir.Diagnostic) -> bool:
            _forward(_converted(diagnostic))
            return True

        handler = context.attach_diagnostic_handler(handle)
        try:
            yield found
        finally:
            handler.detach()


def _converted(diagnostic: ir.Diagnostic | ir.DiagnosticInfo) -> Diagnostic:
    severity = str(diagnostic.severity).rpartition(".")[2].lower()
    notes = tuple((note.location, note.message) for note in diagnostic.notes)
    return Diagnostic(severity, diagnostic.location, diagnostic.message, notes)  # type: ignore[arg-type]


def _forward(diagnostic: Diagnostic) -> None:
    diagnostics.report(
        diagnostic.severity, diagnostic.location, diagnostic.message, diagnostic.notes
    )


def _report_unless_reported(error: Exception, place: ir.Location) -> None:
    """Reports a failure of C++ code: its own diagnostics where it has some, else its message."""
    carried = getattr(error, "error_diagnostics", ())
    for diagnostic in carried:
        _forward(_converted(diagnostic))
    if not carried and not diagnostics.has_errors():
        diagnostics.report("error", place, getattr(error, "message", "") or str(error))


def _hooks(settings: Settings, timing: Timing | None, stderr: TextIO) -> list:
    hooks: list = []
    if settings.verify_each:
        hooks.append(Verify())
    printing = PrintIR(
        stderr,
        before=_matcher(settings.print_before, settings.print_before_all),
        after=_matcher(settings.print_after, settings.print_after_all),
    )
    if printing.wanted:
        hooks.append(printing)
    if timing is not None:
        hooks.append(timing)
    return hooks


def _matcher(names: set[str], everything: bool) -> frozenset[str] | None:
    """Returns the names of passes to print for; None for all of them."""
    return None if everything else frozenset(names)


def _print(module: ir.Module, settings: Settings) -> bytes:
    operation = module.operation
    if settings.emit_bytecode:
        buffer = io.BytesIO()
        operation.write_bytecode(buffer)
        return buffer.getvalue()
    text = operation.get_asm(
        print_generic_op_form=settings.print_generic,
        enable_debug_info=settings.print_debug_info,
        use_local_scope=settings.print_local_scope,
        large_elements_limit=settings.largest_elements,
    )
    return (text + ("" if text.endswith("\n") else "\n")).encode()
