"""The text form of assignments: which label, argument or result belongs on which mesh."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.functions import topology_of
from mpmd.passes.base import PassFailure, option


@dataclass(frozen=True)
class Place:
    """A mesh, with the memory on it and the pipeline stage where the user named them."""

    mesh: str
    memory_kind: str | None = None
    stage: int | None = None

    @staticmethod
    def parse(text: str) -> Place:
        """Returns the place that `mesh`, `mesh#memory_kind` or `mesh/stage` spells."""
        where, slash, stage = text.partition("/")
        mesh, _, memory_kind = where.partition("#")
        if not mesh:
            raise ValueError(f"the mesh is missing in '{text}'")
        if slash and not (stage.isascii() and stage.isdigit()):
            raise ValueError(f"Failed to parse stage number: {stage}")
        return Place(mesh, memory_kind or None, int(stage) if slash else None)

    def __str__(self) -> str:
        memory = f"#{self.memory_kind}" if self.memory_kind else ""
        return f"{self.mesh}{memory}" + ("" if self.stage is None else f"/{self.stage}")


NameAssignment = tuple[tuple[str, Place], ...]
"""Pairs of a label and its place, in the order given."""

IndexAssignment = tuple[tuple[int, Place], ...]
"""Pairs of an argument's or result's number and its place."""


def _pairs(text: str, hint: str) -> list[tuple[str, str]]:
    pairs = []
    for item in filter(None, (part.strip() for part in text.split(","))):
        key, at, place = item.partition("@")
        if not at:
            raise ValueError(f"Assignment must contain '@' denoting {hint}, got: {item}")
        pairs.append((key, place))
    return pairs


def parse_names(text: str) -> NameAssignment:
    """Reads `name@mesh,name@mesh/stage`; a name given twice keeps its last place."""
    hint = "a name assigned to a mesh (and stage)"
    return tuple({key: Place.parse(place) for key, place in _pairs(text, hint)}.items())


def parse_indices(text: str) -> IndexAssignment:
    """Reads `0@mesh,1@mesh#memory_kind`; a number given twice keeps its last place."""
    found = {}
    for key, text_of_place in _pairs(text, "a name assigned to a mesh"):
        if not (key.isascii() and key.isdigit()):
            raise ValueError(f"Failed to parse index: {key}")
        place = Place.parse(text_of_place)
        if place.stage is not None:
            raise ValueError(f"'{text_of_place}' has a stage, which only labels have")
        found[int(key)] = place
    return tuple(found.items())


def format_assignment(assignment: NameAssignment | IndexAssignment) -> str:
    """Returns the text that reads back as `assignment`."""
    return ",".join(f"{key}@{place}" for key, place in assignment)


def check_mesh(where: ir.Operation, func: ir.Operation, place: Place) -> None:
    """Raises PassFailure at `where` unless the topology of `func` has the mesh of `place`."""
    meshes = topology_of(func)
    if place.mesh not in meshes:
        known = ", ".join(meshes)
        raise PassFailure(
            where, f"Topology doesn't have a mesh with name: {place.mesh}; it has: {known}"
        )


def index_assignment(what: str) -> Any:
    """Declares the option of a pass that puts arguments or results on meshes."""
    return option(
        (),
        f"{what} numbers and their meshes: 0@m1,1@m2#pinned_host.",
        parse=parse_indices,
        format=format_assignment,
    )
