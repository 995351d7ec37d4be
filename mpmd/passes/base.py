"""What a pass is: a frozen dataclass with a name, options and one entry method.

An instance is a pass with its options set; `str(pass_)` is its text in a pipeline, and
`Pass.parse` reads the options back. The class docstring is the documentation that `mpmd-opt`
prints: its first sentence is the summary.
"""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.diagnostics import Diagnostic, location_of, report
from mpmd.dialect.functions import functions, is_mpmd_function


class PassFailure(Exception):
    """A pass found the fault in its input; becomes a located error diagnostic."""

    def __init__(
        self,
        where: ir.Operation | ir.Location,
        message: str,
        notes: Sequence[tuple[ir.Operation | ir.Location, str]] = (),
    ) -> None:
        super().__init__(message)
        located = tuple((location_of(place), text) for place, text in notes)
        self.diagnostic = Diagnostic("error", location_of(where), message, located)


def raise_all(failures: Sequence[PassFailure]) -> None:
    """Fails with all of `failures` at once, if there are any, so that they can be fixed at once."""
    if not failures:
        return
    for failure in failures[:-1]:
        found = failure.diagnostic
        report("error", found.location, found.message, found.notes)
    raise failures[-1]


def run_on_all(work: Callable[[ir.Operation], None], funcs: Iterable[ir.Operation]) -> None:
    """Does `work` on each function; a failure in one does not hide those in others."""
    failures = []
    for func in funcs:
        try:
            work(func)
        except PassFailure as failure:
            failures.append(failure)
    raise_all(failures)


class OptionError(ValueError):
    """The text of a pass's options is wrong."""


def option(
    default: Any,
    help: str,
    *,
    name: str | None = None,
    parse: Callable[[str], Any] | None = None,
    format: Callable[[Any], str] | None = None,
) -> Any:
    """Declares an option field of a pass; `default` must be immutable.

    The option is spelled like the field with dashes unless `name` is given. `parse` and `format`
    convert values other than bool, int and str; `parse` raises ValueError.
    """
    metadata = {"help": help, "name": name, "parse": parse, "format": format}
    return dataclasses.field(default=default, metadata=metadata)


def _parse_bool(text: str) -> bool:
    if text.lower() in ("true", "1"):
        return True
    if text.lower() in ("false", "0"):
        return False
    raise ValueError(f"'{text}' is neither true nor false")


def _parse_int(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"'{text}' is not an integer") from None


_PARSERS: dict[str, Callable[[str], Any]] = {"bool": _parse_bool, "int": _parse_int, "str": str}


@dataclass(frozen=True)
class Option:
    """An option as a pass declares it."""

    name: str
    field: str
    help: str
    default: Any
    kind: str
    parse: Callable[[str], Any]
    format: Callable[[Any], str]


@dataclass(frozen=True)
class Pass(ABC):
    """A transformation or check of a module. Subclasses are frozen dataclasses."""

    name: ClassVar[str]

    @abstractmethod
    def run(self, module: ir.Operation) -> None:
        """Transforms `module` (a `builtin.module`) in place; raises PassFailure on bad input."""

    @classmethod
    def options(cls) -> list[Option]:
        """Returns the declared options, in the order of the fields."""
        return [_option_of(field) for field in dataclasses.fields(cls)]

    @classmethod
    def parse(cls, values: dict[str, str] | None = None) -> Self:
        """Returns the pass with the options in `values`, spelled as text; raises OptionError."""
        known = {each.name: each for each in cls.options()}
        arguments = {}
        for key, text in (values or {}).items():
            if key not in known:
                valid = ", ".join(sorted(known)) or "none"
                raise OptionError(f"pass '{cls.name}' has no option '{key}'; it has: {valid}")
            try:
                arguments[known[key].field] = known[key].parse(text)
            except ValueError as error:
                raise OptionError(f"option '{key}' of pass '{cls.name}': {error}") from None
        return cls(**arguments)

    def __str__(self) -> str:
        parts = []
        for each in self.options():
            value = getattr(self, each.field)
            if value != each.default:
                parts.append(f"{each.name}={_protect(each.format(value))}")
        return f"{self.name}{{{' '.join(parts)}}}" if parts else self.name

    @classmethod
    def summary(cls) -> str:
        """Returns the first sentence of the documentation."""
        first, _, _ = inspect.cleandoc(cls.__doc__ or "").partition("\n\n")
        return " ".join(first.split())

    @classmethod
    def documentation(cls) -> str:
        """Returns the whole documentation."""
        return inspect.cleandoc(cls.__doc__ or "")


class FunctionPass(Pass):
    """A pass that works on one function at a time."""

    def run(self, module: ir.Operation) -> None:
        run_on_all(self.run_on_function, filter(self.applies_to, functions(module)))

    def applies_to(self, func: ir.Operation) -> bool:
        """Tells whether the pass looks at `func`: by default where there are meshes to work on."""
        return is_mpmd_function(func)

    @abstractmethod
    def run_on_function(self, func: ir.Operation) -> None:
        """Transforms one function in place."""


class Pipeline(Pass):
    """A pass that is a list of passes, made from its own options."""

    @abstractmethod
    def passes(self) -> list[Pass]:
        """Returns the passes in the order in which they run."""

    def run(self, module: ir.Operation) -> None:
        from mpmd.passes.runner import run_passes

        run_passes(module, self.passes())


def _option_of(field: dataclasses.Field[Any]) -> Option:
    kind = _kind_of(field.type)
    parse = field.metadata.get("parse") or _PARSERS[kind]
    format_ = field.metadata.get("format") or _format
    name = field.metadata.get("name") or field.name.replace("_", "-")
    return Option(name, field.name, field.metadata["help"], field.default, kind, parse, format_)


def _kind_of(annotation: Any) -> str:
    """Returns the name of an option's type as users see it."""
    if isinstance(annotation, str):
        return annotation if annotation in _PARSERS else "str"
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return "str"
    return annotation.__name__ if annotation in (bool, int, str) else "str"


def _format(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _protect(text: str) -> str:
    """Quotes an option value that would otherwise not read back."""
    if text and not any(c in " {}'\"" for c in text):
        return text
    return "{" + text + "}" if text.count("{") == text.count("}") else f"'{text}'"
