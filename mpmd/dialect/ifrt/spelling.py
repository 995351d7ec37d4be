"""Rewrites IFRT text between the two spellings that releases of jaxlib print and parse.

Older ones put the properties of an operation among its attributes, newer ones before them and with
shorter arrays; neither parses the other. Saved programs outlive a release, so both are read.

    ifrt.Call @f::@main(%0) on devices [0] {donated_input_indices = array<i32: 0>, a = 1} : (...)
    ifrt.Call @f::@main(%0) on devices [0] <donated_input_indices = [0]> {a = 1} : (...)
"""

from __future__ import annotations

import re

_OPERATION = re.compile(
    r"(?P<head> = ifrt\.(?:Call|CopyArrays|Reshard)\b[^<{\n]*?)"
    r"(?: <(?P<properties>[^\n]*?)>)?(?: \{(?P<attributes>[^\n]*?)\})? : \("
)
_PROPERTY = re.compile(
    r"(donated_input_indices|io_aliases|donated|reuse) = (\[[^\]]*\]|array<[^>]*>|\w+)(?:, )?"
)


def respell(text: str, strict: bool) -> str:
    """Returns the text with properties set apart (`strict`) or among the attributes."""

    def operation(match: re.Match[str]) -> str:
        attributes = match["attributes"] or ""
        rest = _PROPERTY.sub("", attributes).removesuffix(", ")
        found = [*_PROPERTY.findall(match["properties"] or ""), *_PROPERTY.findall(attributes)]
        entries = [f"{name} = {_value(name, value, strict)}" for name, value in found]
        if strict:
            apart = f" <{', '.join(entries)}>" if entries else ""
            return f"{match['head']}{apart}{_braces(rest)} : ("
        return f"{match['head']}{_braces(', '.join([*entries, *([rest] if rest else [])]))} : ("

    old, new = ' attributes {sym_visibility = "private"} {', ' <sym_visibility = "private"> {'
    before, after = (old, new) if strict else (new, old)
    return _OPERATION.sub(operation, text).replace(before, after)


def _value(name: str, value: str, strict: bool) -> str:
    if name != "donated_input_indices":
        return value
    numbers = value[1:-1] if value.startswith("[") else value[:-1].partition(": ")[2]
    if strict:
        return f"[{numbers}]"
    return f"array<i32: {numbers}>" if numbers else "array<i32>"


def _braces(attributes: str) -> str:
    return f" {{{attributes}}}" if attributes else ""
