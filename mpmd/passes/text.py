"""Reads pipelines and pass options from text, in MLIR's syntax.

    builtin.module(mpmd-fragment-dce,func.func(canonicalize{max-iterations=3}))

Our passes work on whole modules, so the nesting around them is checked and dropped; passes that
jaxlib implements in C++ keep theirs.
"""

from __future__ import annotations

from dataclasses import dataclass

from mpmd.dialect._jaxlib import ir, passmanager
from mpmd.passes import registry
from mpmd.passes.base import OptionError, Pass
from mpmd.passes.cpp import CppPass

_OPEN, _CLOSE = "([{", ")]}"
_ANCHORS = ("builtin.module", "func.func", "any")


class PipelineError(ValueError):
    """The text of a pipeline does not parse or names an unknown pass."""


class UnknownPassError(PipelineError):
    """Neither we nor jaxlib have a pass of that name."""


def split_outside(text: str, separators: str) -> list[str]:
    """Splits `text` at any of `separators` that stands outside brackets and quotes.

    Raises PipelineError where brackets or quotes do not match.
    """
    parts, start, closers, quote = [], 0, [], ""
    for position, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in _OPEN:
            closers.append(_CLOSE[_OPEN.index(char)])
        elif char in _CLOSE:
            if not closers or closers.pop() != char:
                raise PipelineError(f"unbalanced '{char}' at character {position + 1} of '{text}'")
        elif char in separators and not closers:
            parts.append(text[start:position])
            start = position + 1
    if quote:
        raise PipelineError(f"unterminated {quote} in '{text}'")
    if closers:
        raise PipelineError(f"missing '{closers[-1]}' in '{text}'")
    return [*parts, text[start:]]


def parse_options(text: str) -> dict[str, str]:
    """Reads `a=b c={d e} flag`; a bare name is true. Quotes and braces around a value go."""
    values: dict[str, str] = {}
    for word in split_outside(text, " \t\n"):
        if not word:
            continue
        name, equals, value = word.partition("=")
        if not name:
            raise PipelineError(f"option without a name: '{word}'")
        if name in values:
            raise PipelineError(f"option '{name}' is given twice")
        values[name] = _strip(value) if equals else "true"
    return values


def _strip(value: str) -> str:
    """Removes one pair of quotes or braces that surrounds the whole of `value`."""
    if len(value) < 2:
        return value
    first, last = value[0], value[-1]
    if first in "\"'" and first == last and first not in value[1:-1]:
        return value[1:-1]
    if first == "{" and last == "}" and len(split_outside(value[1:-1], "")) == 1:
        return value[1:-1]
    return value


@dataclass(frozen=True)
class _Element:
    name: str
    options: str
    nested: tuple[_Element, ...] | None


def _parse_elements(text: str) -> tuple[_Element, ...]:
    elements = []
    for item in split_outside(text, ","):
        item = item.strip()
        if not item:
            if text.strip():
                raise PipelineError(f"an empty element in '{text}'")
            continue
        if item.endswith(")"):
            name, _, inner = item[:-1].partition("(")
            elements.append(_Element(name.strip(), "", _parse_elements(inner)))
        elif item.endswith("}"):
            name, _, inner = item[:-1].partition("{")
            elements.append(_Element(name.strip(), inner, None))
        else:
            elements.append(_Element(item, "", None))
    return tuple(elements)


def parse_pipeline(text: str) -> list[Pass]:
    """Returns the passes of a pipeline, with or without its `builtin.module(...)` around it."""
    elements = _parse_elements(text)
    if len(elements) == 1 and elements[0].name in ("builtin.module", "any"):
        elements = elements[0].nested or ()
    return _instantiate(elements, ())


def _instantiate(elements: tuple[_Element, ...], anchors: tuple[str, ...]) -> list[Pass]:
    passes: list[Pass] = []
    for element in elements:
        if element.nested is None:
            passes.append(make_pass(element.name, element.options, anchors))
        elif element.name in _ANCHORS:
            passes.extend(_instantiate(element.nested, (*anchors, element.name)))
        else:
            known = ", ".join(_ANCHORS)
            raise PipelineError(f"cannot nest passes under '{element.name}'; known are: {known}")
    return passes


def make_pass(name: str, options: str = "", anchors: tuple[str, ...] = ()) -> Pass:
    """Returns the pass called `name`, ours or jaxlib's; raises PipelineError or OptionError."""
    ours = registry.find(name)
    if ours is not None:
        return ours.parse(parse_options(options))
    text = f"{name}{{{options}}}" if options else name
    nests = [anchors] if anchors else [(), ("func.func",)]
    error = ""
    for nest in nests:
        spelled = text
        for anchor in reversed(nest):
            spelled = f"{anchor}({spelled})"
        try:
            passmanager.PassManager.parse(f"builtin.module({spelled})", ir.Context.current)
        except ValueError as failure:
            error = error or str(failure)
        else:
            return CppPass(spelled)
    if "does not refer to a registered pass" in error:
        raise UnknownPassError(f"unknown pass '{name}'")
    reason = error.splitlines()[0].partition("error: ")[2] or error
    raise PipelineError(f"pass '{name}': {reason}")


__all__ = [
    "OptionError",
    "PipelineError",
    "UnknownPassError",
    "make_pass",
    "parse_options",
    "parse_pipeline",
]
