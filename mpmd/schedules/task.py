"""One unit of pipeline work: a stage, what is done there, and for which microbatch."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass

_TEXT = re.compile(r"(\d+)(Bi|Bw|F|B)(\d+)\Z")


class Kind(enum.IntEnum):
    """What a task computes; the values index cost tables and are part of task codes."""

    F = 0  # forward
    B = 1  # whole backward
    Bi = 2  # gradient with respect to the stage's inputs only
    Bw = 3  # gradient with respect to the stage's weights only

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, order=True, slots=True)
class Task:
    """A task as a value; its text form, such as `2F7` or `1Bi4`, parses back."""

    stage: int
    kind: Kind
    microbatch: int

    def __post_init__(self) -> None:
        if self.stage < 0 or self.microbatch < 0:
            raise ValueError(
                f"a task needs a stage and a microbatch of at least 0, not stage {self.stage} "
                f"and microbatch {self.microbatch}"
            )

    @classmethod
    def parse(cls, text: str) -> Task:
        """Reads the text form: stage, kind (F, B, Bi or Bw), microbatch."""
        match = _TEXT.match(text.strip())
        if match is None:
            raise ValueError(
                f"{text!r} is no task: write the stage, one of F, B, Bi, Bw, and the microbatch, "
                "as in 2F7"
            )
        return cls(int(match[1]), Kind[match[2]], int(match[3]))

    def __str__(self) -> str:
        return f"{self.stage}{self.kind.name}{self.microbatch}"
