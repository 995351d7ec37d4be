"""The command line of `mpmd-opt`.

Passes are flags and run in the order in which they are given, anywhere between the other options,
and most of their names are known only to C++: that is why no general parser reads this.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from mpmd.passes.base import OptionError, Pass
from mpmd.passes.text import (
    PipelineError,
    UnknownPassError,
    make_pass,
    parse_pipeline,
    split_outside,
)

SPLIT_MARKER = "// -----"
VERBOSITIES = ("errors", "warnings", "remarks")


class UsageError(Exception):
    """The command line is wrong."""


@dataclass
class Settings:
    """What a command line asks for."""

    input: str = "-"
    output: str = "-"
    passes: list[Pass] = field(default_factory=list)
    split_marker: str | None = None
    verify_diagnostics: bool = False
    verify_each: bool = True
    only_expected: bool = False
    verbosity: str = "remarks"
    print_op_on_diagnostic: bool = True
    allow_unregistered: bool = False
    emit_bytecode: bool = False
    print_generic: bool = False
    print_debug_info: bool = False
    print_local_scope: bool = False
    largest_elements: int | None = None
    print_before: set[str] = field(default_factory=set)
    print_after: set[str] = field(default_factory=set)
    print_before_all: bool = False
    print_after_all: bool = False
    print_module_scope: bool = False
    no_threads: bool = True
    timing: bool = False
    show_pipeline: bool = False
    list_passes: bool = False
    help: bool = False
    help_for: str | None = None
    version: bool = False


@dataclass(frozen=True)
class Flag:
    """An option of the driver itself."""

    name: str
    help: str
    set: Callable[[Settings, str], None]
    value: str = ""
    """What the value is called in `--help`; empty for a flag without one."""
    optional: bool = False
    """Whether the value may be left out."""


def _bool(text: str) -> bool:
    if text.lower() in ("", "true", "1"):
        return True
    if text.lower() in ("false", "0"):
        return False
    raise PipelineError(f"'{text}' is neither true nor false")


def _switch(name: str, attribute: str, help: str) -> Flag:
    return Flag(name, help, lambda s, text: setattr(s, attribute, _bool(text)))


def _set_verbosity(settings: Settings, text: str) -> None:
    if text not in VERBOSITIES:
        raise PipelineError(f"verbosity '{text}' is not one of {', '.join(VERBOSITIES)}")
    settings.verbosity = text


def _set_verify(settings: Settings, text: str) -> None:
    settings.only_expected = text == "only-expected"
    settings.verify_diagnostics = text in ("all", "only-expected") or _bool(text)


def _set_largest_elements(settings: Settings, text: str) -> None:
    if not (text.isascii() and text.isdigit()):
        raise PipelineError(f"'{text}' is not a number of elements")
    settings.largest_elements = int(text)


def _set_help(settings: Settings, text: str) -> None:
    settings.help = True
    settings.help_for = text or None


def _add_pipeline(settings: Settings, text: str) -> None:
    settings.passes.extend(parse_pipeline(text))


FLAGS = {
    flag.name: flag
    for flag in (
        Flag(
            "o",
            "Write to FILE; - is standard output.",
            lambda s, t: setattr(s, "output", t),
            "FILE",
        ),
        Flag(
            "split-input-file",
            "Treat the parts between MARKER lines (default '// -----') as separate modules.",
            lambda s, t: setattr(s, "split_marker", t or SPLIT_MARKER),
            "MARKER",
            optional=True,
        ),
        Flag(
            "verify-diagnostics",
            "Check diagnostics against expected-{error,warning,note,remark} comments; with "
            "only-expected, others are fine.",
            _set_verify,
        ),
        Flag("pass-pipeline", "Run the passes of a textual pipeline.", _add_pipeline, "TEXT"),
        _switch("verify-each", "verify_each", "Verify the module after each pass (default true)."),
        Flag(
            "mlir-diagnostic-verbosity-level",
            "Print diagnostics of at least this severity: errors, warnings or remarks.",
            _set_verbosity,
            "LEVEL",
        ),
        _switch(
            "allow-unregistered-dialect",
            "allow_unregistered",
            "Accept operations of dialects that are not loaded.",
        ),
        _switch(
            "mlir-print-op-on-diagnostic",
            "print_op_on_diagnostic",
            "Show the operation that an error is about (default true).",
        ),
        _switch("mlir-disable-threading", "no_threads", "Accepted; there is one thread."),
        _switch("emit-bytecode", "emit_bytecode", "Write MLIR bytecode instead of text."),
        _switch("mlir-print-op-generic", "print_generic", "Print operations in generic form."),
        _switch("mlir-print-debuginfo", "print_debug_info", "Print locations."),
        _switch(
            "mlir-print-local-scope",
            "print_local_scope",
            "Print without aliases and with inline locations.",
        ),
        Flag(
            "mlir-elide-elementsattrs-if-larger",
            "Leave out the values of constants with more elements than this.",
            _set_largest_elements,
            "COUNT",
        ),
        Flag(
            "mlir-print-ir-before",
            "Print the module before these passes.",
            lambda s, t: s.print_before.update(t.split(",")),
            "PASS,...",
        ),
        Flag(
            "mlir-print-ir-after",
            "Print the module after these passes.",
            lambda s, t: s.print_after.update(t.split(",")),
            "PASS,...",
        ),
        _switch("mlir-print-ir-before-all", "print_before_all", "Print before each pass."),
        _switch("mlir-print-ir-after-all", "print_after_all", "Print after each pass."),
        _switch(
            "mlir-print-ir-module-scope",
            "print_module_scope",
            "Accepted; modules are always whole.",
        ),
        _switch("mlir-timing", "timing", "Report the time that each pass took."),
        _switch("show-pipeline", "show_pipeline", "Print the passes as a pipeline and exit."),
        _switch("list-passes", "list_passes", "List all passes with a one-line summary and exit."),
        Flag(
            "help",
            "Show this help, or the documentation of one pass, and exit.",
            _set_help,
            "PASS",
            optional=True,
        ),
        _switch("version", "version", "Show the versions of mpmd and jaxlib and exit."),
    )
}
_SHORT = {"h": "help"}


def parse(arguments: Sequence[str]) -> Settings:
    """Returns what the arguments ask for; needs a current context, to look up C++ passes.

    Raises UsageError with a message for the user.
    """
    settings = Settings()
    inputs: list[str] = []
    queue = list(arguments)
    options_ended = False
    while queue:
        argument = queue.pop(0)
        if options_ended or argument == "-" or not argument.startswith("-"):
            inputs.append(argument)
        elif argument == "--":
            options_ended = True
        else:
            _read_option(settings, argument, queue)
    if len(inputs) > 1:
        raise UsageError(f"more than one input file: {', '.join(inputs)}")
    settings.input = inputs[0] if inputs else "-"
    return settings


def _read_option(settings: Settings, argument: str, queue: list[str]) -> None:
    name, equals, value = argument.removeprefix("-").removeprefix("-").partition("=")
    name = _SHORT.get(name, name)
    flag = FLAGS.get(name)
    try:
        if flag is None:
            try:
                settings.passes.append(make_pass(name, _unbrace(value)))
            except UnknownPassError:
                raise UsageError(_unknown(name)) from None
            return
        if flag.value and not equals and not flag.optional:
            if not queue:
                raise PipelineError(f"needs a value: -{name}={flag.value}")
            value = queue.pop(0)
        flag.set(settings, value)
    except (OptionError, PipelineError) as error:
        raise UsageError(f"option '{argument}': {error}") from None


def _unbrace(options: str) -> str:
    """Accepts `-pass={a=b}` too, the form that a pipeline has."""
    inner = options[1:-1]
    if options.startswith("{") and options.endswith("}") and len(split_outside(inner, "")) == 1:
        return inner
    return options


def _unknown(name: str) -> str:
    import difflib

    from mpmd.passes import registry

    close = difflib.get_close_matches(name, [*registry.names(), *FLAGS], n=1)
    hint = f"; did you mean '-{close[0]}'?" if close else "; see --help and --list-passes"
    return f"unknown option or pass '-{name}'{hint}"
