"""Reads the computations of a partitioned program, in their order, for the simulator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.fragment import Fragment
from mpmd.dialect.functions import entry_block, topology_of
from mpmd.passes.optimize._scheduling_units import DROPS_TRANSFERRED, KEEPS_TRANSFERRED
from mpmd.passes.optimize.remat_fragment import REMAT
from mpmd.schedules.program import Piece, report_on_program
from mpmd.schedules.report import ScheduleReport
from mpmd.schedules.task import Kind


@dataclass(frozen=True)
class _Read:
    """A fragment as it stands in the program."""

    mesh: str
    parts: tuple[Kind, ...]
    stage: int | None
    counter: int | None
    needs: tuple[int, ...]
    rematerialized: bool
    name: str


def program_report(title: str, main: ir.Operation) -> ScheduleReport:
    """Simulates a program of fragments that still say which microbatch and stage they are of."""
    read = _read(main)
    meshes = list(topology_of(main))
    counted = any(each.counter is not None for each in read)
    belongs = [bool(each.parts) and (each.counter is not None or not counted) for each in read]
    user = [each for each, yes in zip(read, belongs, strict=True) if yes]
    stages = _number_stages(user)
    pieces = [
        Piece(
            meshes.index(each.mesh),
            each.parts,
            stages[each.mesh, each.stage],
            each.counter or 0,
            each.needs,
            each.rematerialized,
        )
        if yes
        else Piece(meshes.index(each.mesh), needs=each.needs)
        for each, yes in zip(read, belongs, strict=True)
    ]
    others = dict.fromkeys(
        each.name for each, yes in zip(read, belongs, strict=True) if not yes and each.name
    )
    note = f"outside of microbatches, taken to need no time: {', '.join(others)}" if others else ""
    return report_on_program(title, meshes, pieces, note=note)


def _number_stages(fragments: Sequence[_Read]) -> dict[tuple[str, int | None], int]:
    """Numbers the stages by their ids, or where ids are missing as the program reaches them."""
    keys = dict.fromkeys((each.mesh, each.stage) for each in fragments)
    ordered = (
        list(keys)
        if any(stage is None for _, stage in keys)
        else sorted(keys, key=lambda key: key[1] or 0)
    )
    return {key: number for number, key in enumerate(ordered)}


def _read(main: ir.Operation) -> list[_Read]:
    read: list[_Read] = []
    makers: dict[ir.Value, tuple[int, ...]] = {}  # value -> the fragment it comes from
    for op in entry_block(main).operations:
        sources = dict.fromkeys(i for value in op.operands for i in makers.get(value, ()))
        fragment = Fragment.of(op)
        if fragment is not None:
            read.append(_describe(fragment, tuple(sources)))
            sources = {len(read) - 1: None}
        for result in op.results:
            makers[result] = tuple(sources)
    return read


def _describe(fragment: Fragment, needs: tuple[int, ...]) -> _Read:
    attributes, origins = fragment.op.attributes, fragment.origins
    counts = {origin.transpose_count for origin in origins}
    backward = Kind.B
    if KEEPS_TRANSFERRED in attributes:
        backward = Kind.Bi
    elif DROPS_TRANSFERRED in attributes:
        backward = Kind.Bw
    known = counts <= {0, 1}
    parts = ((Kind.F,) if 0 in counts else ()) + ((backward,) if 1 in counts else ())
    return _Read(
        fragment.mesh,
        parts if known else (),
        fragment.stage,
        fragment.call_counter,
        needs,
        REMAT in attributes,
        ", ".join(map(str, origins)),
    )
