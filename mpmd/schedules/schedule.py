"""A pipeline schedule as an immutable value: for each mesh the order in which its tasks run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpmd.schedules.task import Kind, Task

IntArray = NDArray[np.signedinteger[Any]]
BoolArray = NDArray[np.bool_]
NUM_KINDS = len(Kind)


def encode(stage: Any, kind: Any, microbatch: Any, num_microbatches: int) -> Any:
    """Maps tasks to integers; works on numbers and on arrays of them."""
    return (stage * NUM_KINDS + kind) * num_microbatches + microbatch


class Schedule:
    """Per-mesh task lists and the placement of stages on meshes.

    A schedule may hold millions of tasks, so inside it is one array of task codes (see `encode`)
    with the tasks of each mesh side by side; `Task` objects are made when they are asked for.

    `placement[stage, microbatch]` is the mesh of a stage. It depends on the microbatch only in
    schedules that run several pipelines in parallel over the same meshes.

    `paired` marks tasks that run together with the next one of their mesh, which the text form
    joins by a plus: `0F7+7B3`.
    """

    __slots__ = (
        "codes",
        "name",
        "num_microbatches",
        "num_stages",
        "offsets",
        "paired",
        "placement",
    )

    codes: IntArray
    offsets: IntArray
    placement: IntArray
    paired: BoolArray | None
    name: str
    num_stages: int
    num_microbatches: int

    def __init__(
        self,
        mesh_codes: Sequence[IntArray],
        placement: Any,
        num_microbatches: int,
        name: str = "",
        paired: BoolArray | None = None,
    ) -> None:
        """Takes the codes of each mesh; most callers want `from_table`, `parse` or a generator.

        Args:
          mesh_codes: for each mesh the codes of its tasks, in order.
          placement: the mesh of each stage, or of each (stage, microbatch).
          num_microbatches: how many microbatches the codes were made for.
          name: the family the schedule belongs to, for messages.
          paired: for each task, those of all meshes in a row, whether it runs with the next one.
        """
        by_stage = np.asarray(placement, dtype=np.int64)
        if by_stage.ndim == 1:
            by_stage = np.broadcast_to(by_stage[:, None], (len(by_stage), num_microbatches))
        lengths = np.array([len(codes) for codes in mesh_codes], dtype=np.int64)
        # Half the memory wherever all codes, and all numbers of slots, fit.
        small = NUM_KINDS * by_stage.size < np.iinfo(np.int32).max
        codes = np.empty(int(lengths.sum()), np.int32 if small else np.int64)
        np.concatenate([*mesh_codes, codes[:0]], out=codes, casting="same_kind")
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        for array in (codes, offsets):
            array.flags.writeable = False
        set_slot = object.__setattr__
        set_slot(self, "codes", codes)
        set_slot(self, "offsets", offsets)
        set_slot(self, "placement", by_stage)
        set_slot(self, "paired", paired if paired is not None and paired.any() else None)
        set_slot(self, "name", name)
        set_slot(self, "num_stages", len(by_stage))
        set_slot(self, "num_microbatches", num_microbatches)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Schedule is immutable: {name} cannot be set")

    @classmethod
    def from_table(
        cls,
        table: Iterable[Iterable[Task | str]],
        placement: Sequence[int] | IntArray | None = None,
        name: str = "",
    ) -> Schedule:
        """Makes a schedule from one list of tasks (or their text forms) per mesh.

        The placement is read off the table unless it is given. Whether the table makes sense is
        for `check` to say: a table with a mistake can still be printed and looked at.
        """
        cells = [[_read_cell(cell) for cell in row] for row in table]
        rows = [[task for cell in row for task in cell] for row in cells]
        if not any(rows):
            raise ValueError("a schedule needs at least one task")
        num_microbatches = 1 + max(task.microbatch for row in rows for task in row)
        num_stages = 1 + max(task.stage for row in rows for task in row)
        codes = [
            np.array(
                [encode(t.stage, t.kind, t.microbatch, num_microbatches) for t in row], np.int64
            )
            for row in rows
        ]
        paired = np.array([t is not c[-1] for row in cells for c in row for t in c], dtype=bool)
        if placement is None:
            placement = _placement(rows, num_stages, num_microbatches)
        if len(placement) < num_stages:
            raise ValueError(
                f"the placement covers {len(placement)} stages, but the table has tasks of stage "
                f"{num_stages - 1}"
            )
        return cls(codes, placement, num_microbatches, name, paired)

    @classmethod
    def parse(cls, text: str) -> Schedule:
        """Reads the text form: one line `mesh N: TASK TASK ...` per mesh, from mesh 0 on."""
        rows: list[list[str]] = []
        name = ""
        for line in filter(None, (raw.strip() for raw in text.splitlines())):
            head, colon, tail = line.partition(":")
            words = head.split()
            if colon and words == ["schedule"]:
                name = tail.strip()
            elif colon and words == ["mesh", str(len(rows))]:
                rows.append(tail.split())
            else:
                raise ValueError(
                    f"{line!r} is no line of a schedule: 'mesh {len(rows)}: TASK TASK ...' expected"
                )
        return cls.from_table(rows, name=name)

    def __str__(self) -> str:
        lines = [f"schedule: {self.name}"] if self.name else []
        for mesh in range(self.num_meshes):
            lines.append(f"mesh {mesh}: {self._row_text(mesh)}".rstrip())
        return "\n".join(lines)

    def _row_text(self, mesh: int) -> str:
        words = [str(task) for task in self.tasks(mesh)]
        if self.paired is not None:
            joins = self.paired[self.offsets[mesh] : self.offsets[mesh + 1]]
            words = [word + ("+" if join else " ") for word, join in zip(words, joins, strict=True)]
            return "".join(words)
        return " ".join(words)

    def __repr__(self) -> str:
        return (
            f"<Schedule {self.name or 'table'}: {self.num_stages} stages on {self.num_meshes} "
            f"meshes, {self.num_microbatches} microbatches, {len(self.codes)} tasks>"
        )

    @property
    def num_meshes(self) -> int:
        return len(self.offsets) - 1

    def __len__(self) -> int:
        return len(self.codes)

    def mesh_codes(self, mesh: int) -> IntArray:
        return self.codes[self.offsets[mesh] : self.offsets[mesh + 1]]

    def decode(self, code: int) -> Task:
        rest, microbatch = divmod(int(code), self.num_microbatches)
        stage, kind = divmod(rest, NUM_KINDS)
        return Task(stage, Kind(kind), microbatch)

    def encode(self, task: Task) -> int:
        return int(encode(task.stage, task.kind, task.microbatch, self.num_microbatches))

    def tasks(self, mesh: int) -> list[Task]:
        return [self.decode(code) for code in self.mesh_codes(mesh)]

    def __iter__(self) -> Iterator[list[Task]]:
        return (self.tasks(mesh) for mesh in range(self.num_meshes))

    def mesh_of_position(self) -> IntArray:
        """Returns, for each position of `codes`, the mesh whose list it is in."""
        return np.repeat(np.arange(self.num_meshes), np.diff(self.offsets))

    @property
    def has_fixed_placement(self) -> bool:
        """Whether every stage is on one mesh, whatever the microbatch."""
        same_memory = self.placement.strides[1] == 0
        return same_memory or bool((self.placement == self.placement[:, :1]).all())

    @property
    def splits_backward(self) -> bool:
        """Whether there are tasks of half a backward."""
        return bool((self.kinds() >= Kind.Bi).any())

    def renamed(self, name: str) -> Schedule:
        rows = [self.mesh_codes(mesh) for mesh in range(self.num_meshes)]
        return Schedule(rows, self.placement, self.num_microbatches, name, self.paired)

    def stages(self) -> IntArray:
        return self.codes // (NUM_KINDS * self.num_microbatches)

    def kinds(self) -> IntArray:
        return self.codes // self.num_microbatches % NUM_KINDS

    def microbatches(self) -> IntArray:
        return self.codes % self.num_microbatches

    def __eq__(self, other: object) -> bool:
        """Compares orders and placement; the name is a label, not part of the value."""
        if not isinstance(other, Schedule):
            return NotImplemented
        return (
            self.num_microbatches == other.num_microbatches
            and np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.codes, other.codes)
            and np.array_equal(self.placement, other.placement)
            and np.array_equal(self.paired, other.paired)  # type: ignore[arg-type]
        )

    def __hash__(self) -> int:
        return hash((self.num_microbatches, self.offsets.tobytes(), self.codes.tobytes()))


def _read_cell(cell: Task | str) -> list[Task]:
    return [Task.parse(part) for part in cell.split("+")] if isinstance(cell, str) else [cell]


def _placement(rows: list[list[Task]], num_stages: int, num_microbatches: int) -> IntArray:
    """Reads each task's mesh off the table: where a stage runs first is where it belongs."""
    first = np.full(num_stages, -1, dtype=np.int64)
    forward = np.full((num_stages, num_microbatches), -1, dtype=np.int64)
    for mesh, row in enumerate(rows):
        for task in row:
            if first[task.stage] < 0:
                first[task.stage] = mesh
            if forward[task.stage, task.microbatch] < 0 or task.kind is Kind.F:
                forward[task.stage, task.microbatch] = mesh
    if (first < 0).any():
        raise ValueError(f"the table has no task of stage {int(np.argmin(first))}")
    placed = np.where(forward < 0, first[:, None], forward)
    if (placed == placed[:, :1]).all():
        return placed[:, 0]
    return placed
