"""Reads the rules of users for merging and ordering fragments.

    FragmentScheduleRule(ordered_fragments=[FragmentInfo(origins=["f"],mesh_name="m1")->...])
    FragmentMergeRule(sources=[FragmentInfo(...),FragmentInfo(...)],target=FragmentInfo(...))

A rule is its text: `str` of what was read reads back. Several rules are separated by commas.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

from mpmd.dialect.attributes import Origin
from mpmd.passes.optimize._fragment_info import SPLIT_TYPES, FragmentInfo

Rule = TypeVar("Rule")


@dataclass(frozen=True)
class FragmentScheduleRule:
    """Fragments of one mesh, in the order in which they have to run."""

    ordered_fragments: tuple[FragmentInfo, ...]

    def __post_init__(self) -> None:
        if len(self.ordered_fragments) < 2:
            raise ValueError("a schedule rule needs at least two fragments")

    @property
    def splits_backward(self) -> bool:
        """Whether it is about half a backward."""
        return any(info.split_type for info in self.ordered_fragments)

    def __str__(self) -> str:
        ordered = "->".join(map(str, self.ordered_fragments))
        return f"FragmentScheduleRule(ordered_fragments=[{ordered}])"


@dataclass(frozen=True)
class FragmentMergeRule:
    """Fragments of one mesh that have to become one, and what that one is known as."""

    sources: tuple[FragmentInfo, ...]
    target: FragmentInfo

    def __post_init__(self) -> None:
        if len(self.sources) < 2:
            raise ValueError("a merge rule needs at least two source fragments")

    @property
    def splits_backward(self) -> bool:
        """Whether it is about half a backward."""
        return any(info.split_type for info in (*self.sources, self.target))

    def __str__(self) -> str:
        sources = ",".join(map(str, self.sources))
        return f"FragmentMergeRule(sources=[{sources}],target={self.target})"


def parse_schedule_rules(text: str) -> tuple[FragmentScheduleRule, ...]:
    """Reads schedule rules; raises ValueError."""
    return _Reader(text).rules(_Reader.schedule_rule)


def parse_merge_rules(text: str) -> tuple[FragmentMergeRule, ...]:
    """Reads merge rules; raises ValueError."""
    return _Reader(text).rules(_Reader.merge_rule)


def format_rules(rules: tuple[Any, ...]) -> str:
    """Returns the text that reads back as these rules."""
    return ",".join(map(str, rules))


class _Reader:
    """A text and how far it is read."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0

    def rules(self, read: Callable[[_Reader], Rule]) -> tuple[Rule, ...]:
        found: list[Rule] = []
        while not self._at_end():
            if found:
                self._expect(",")
            found.append(read(self))
        return tuple(found)

    def schedule_rule(self) -> FragmentScheduleRule:
        self._expect("FragmentScheduleRule(", "ordered_fragments=", "[")
        fragments = [self.fragment()]
        while self._take("->"):
            fragments.append(self.fragment())
        self._expect("]", ")")
        return FragmentScheduleRule(tuple(fragments))

    def merge_rule(self) -> FragmentMergeRule:
        self._expect("FragmentMergeRule(", "sources=", "[")
        sources = [self.fragment()]
        while self._take(","):
            sources.append(self.fragment())
        self._expect("]", ",", "target=")
        target = self.fragment()
        self._expect(")")
        return FragmentMergeRule(tuple(sources), target)

    def fragment(self) -> FragmentInfo:
        self._expect("FragmentInfo(", "origins=", "[")
        origins: list[Origin] = []
        while not self._take("]"):
            if origins:
                self._expect(",")
            name = self._string()
            count = self._integer("transpose count") if self._take("(") else None
            if count is not None:
                self._expect(")")
            origins.append(Origin(name, count or 0))
        fields: dict[str, Any] = {}
        while self._take(","):
            self._field(fields)
        self._expect(")")
        return FragmentInfo(tuple(origins), **fields)

    def _field(self, fields: dict[str, Any]) -> None:
        name = self._match(r"[a-z_]+", "a field of FragmentInfo")
        readers: dict[str, Callable[[], Any]] = {
            "stage": lambda: self._integer("stage"),
            "call_counter": lambda: self._integer("call_counter"),
            "split_type": self._split_type,
            "mesh_name": self._string,
        }
        name = {"stage_id": "stage"}.get(name, name)
        if name not in readers:
            raise ValueError(f"FragmentInfo has no field '{name}'; it has: {', '.join(readers)}")
        if name in fields:
            raise ValueError(f"'{name}' specified more than once in a FragmentInfo")
        self._expect("=")
        fields[name] = readers[name]()

    def _split_type(self) -> str:
        value = self._match(r"\w+", "a split type")
        if value not in SPLIT_TYPES:
            raise ValueError(f"split_type is one of {', '.join(SPLIT_TYPES)}, not '{value}'")
        return value

    def _string(self) -> str:
        return self._match(r'"[^"]*"', "a name in double quotes")[1:-1]

    def _integer(self, what: str) -> int:
        return int(self._match(r"\d+", f"an integer for '{what}'"))

    def _match(self, pattern: str, what: str) -> str:
        self._skip_space()
        match = re.compile(pattern).match(self._text, self._position)
        if match is None:
            self._fail(what)
        self._position = match.end()
        return match.group()

    def _expect(self, *parts: str) -> None:
        for part in parts:
            if not self._take(part):
                self._fail(f"'{part}'")

    def _take(self, part: str) -> bool:
        self._skip_space()
        found = self._text.startswith(part, self._position)
        self._position += len(part) if found else 0
        return found

    def _at_end(self) -> bool:
        self._skip_space()
        return self._position == len(self._text)

    def _skip_space(self) -> None:
        while self._text[self._position : self._position + 1].isspace():
            self._position += 1

    def _fail(self, what: str) -> NoReturn:
        rest = self._text[self._position : self._position + 30]
        where = f"at '{rest}'" if rest else "at the end"
        raise ValueError(f"expected {what} {where} (character {self._position + 1})")
