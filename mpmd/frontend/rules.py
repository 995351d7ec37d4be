"""Explicit rules over fragments: which to merge, which to run first."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from mpmd.frontend.names import check_call_counter
from mpmd.schedules.task import Kind


class SplitFragmentType(enum.Enum):
    """The halves of a split backward fragment: what feeds transfers, and the rest."""

    KEEP_TRANSFERRED = "keep_transferred"
    DROP_TRANSFERRED = "drop_transferred"


_SPLIT_TEXT = {
    SplitFragmentType.KEEP_TRANSFERRED: "kKeepTransferred",
    SplitFragmentType.DROP_TRANSFERRED: "kDropTransferred",
}


@dataclass(frozen=True)
class FragmentOrigin:
    """A label and how often it was transposed."""

    computation_name: str
    transpose_count: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.computation_name, str):
            raise ValueError(f"computation_name must be a string, got {self.computation_name!r}")
        _check_count("transpose_count", self.transpose_count)

    def __str__(self) -> str:
        suffix = f"({self.transpose_count})" if self.transpose_count else ""
        return f'"{self.computation_name}"{suffix}'


@dataclass(frozen=True, init=False)
class FragmentInfo:
    """Names one fragment of a partitioned program."""

    origins: tuple[FragmentOrigin, ...]
    mesh_name: str
    stage_id: int | None
    call_counter: int | None
    split_type: SplitFragmentType | None

    def __init__(
        self,
        origins: Sequence[FragmentOrigin],
        *,
        mesh_name: str,
        stage_id: int | None = None,
        call_counter: int | None = None,
        split_type: SplitFragmentType | None = None,
    ) -> None:
        set_field = object.__setattr__
        set_field(self, "origins", _items("origins", origins, FragmentOrigin))
        if not isinstance(mesh_name, str):
            raise ValueError(f"mesh_name must be a string, got {mesh_name!r}")
        set_field(self, "mesh_name", mesh_name)
        if stage_id is not None:
            _check_count("stage_id", stage_id)
        set_field(self, "stage_id", stage_id)
        set_field(self, "call_counter", check_call_counter(call_counter))
        if split_type is not None and not isinstance(split_type, SplitFragmentType):
            raise ValueError(f"split_type must be a SplitFragmentType, got {split_type!r}")
        set_field(self, "split_type", split_type)

    @property
    def kind(self) -> Kind | None:
        """Whether it is a forward, a backward or half a backward; None for a mixture or another."""
        counts = {origin.transpose_count for origin in self.origins}
        if counts == {0}:
            return Kind.F
        if counts != {1}:
            return None
        if self.split_type is None:
            return Kind.B
        return Kind.Bi if self.split_type is SplitFragmentType.KEEP_TRANSFERRED else Kind.Bw

    def __str__(self) -> str:
        fields = [f"origins=[{','.join(map(str, self.origins))}]"]
        if self.stage_id is not None:
            fields.append(f"stage_id={self.stage_id}")
        if self.call_counter is not None:
            fields.append(f"call_counter={self.call_counter}")
        if self.split_type is not None:
            fields.append(f"split_type={_SPLIT_TEXT[self.split_type]}")
        return f'FragmentInfo({",".join(fields)},mesh_name="{self.mesh_name}")'


@dataclass(frozen=True, init=False)
class FragmentMergeRule:
    """Says that some fragments become one."""

    sources: tuple[FragmentInfo, ...]
    target: FragmentInfo

    def __init__(self, sources: Sequence[FragmentInfo], target: FragmentInfo) -> None:
        infos = _items("sources", sources, FragmentInfo, at_least=2)
        object.__setattr__(self, "sources", infos)
        object.__setattr__(self, "target", *_items("target", [target], FragmentInfo))

    def __str__(self) -> str:
        sources = ",".join(map(str, self.sources))
        return f"FragmentMergeRule(sources=[{sources}],target={self.target})"


@dataclass(frozen=True, init=False)
class FragmentScheduleRule:
    """Says in which order some fragments of one mesh run."""

    ordered_fragments: tuple[FragmentInfo, ...]

    def __init__(self, ordered_fragments: Sequence[FragmentInfo]) -> None:
        fragments = _items("ordered_fragments", ordered_fragments, FragmentInfo, at_least=2)
        object.__setattr__(self, "ordered_fragments", fragments)

    def __str__(self) -> str:
        fragments = "->".join(map(str, self.ordered_fragments))
        return f"FragmentScheduleRule(ordered_fragments=[{fragments}])"


def _items(name: str, values: object, kind: type, at_least: int = 0) -> tuple:
    items = tuple(values) if isinstance(values, (list, tuple)) else None
    if items is None or not all(isinstance(item, kind) for item in items):
        raise ValueError(f"{name} must be a list of {kind.__name__}, got {values!r}")
    if len(items) < at_least:
        raise ValueError(f"{name} must be at least {at_least}, got {len(items)}")
    return items


def _check_count(name: str, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{name} must be an integer >= 0, got {value!r}")
