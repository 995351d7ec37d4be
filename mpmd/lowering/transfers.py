"""Transfers as `ifrt.CopyArrays` and `ifrt.Reshard`, batched."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from mpmd.dialect._jaxlib import ir
from mpmd.lowering.calls import segment_sizes
from mpmd.lowering.types import Array, Arrays

TRANSFER = "mpmd.transfer"
_COPY, _RESHARD = "ifrt.CopyArrays", "ifrt.Reshard"


@dataclass
class Batch:
    """Transfers that become one operation, at the place of the last of them."""

    ops: list[ir.Operation] = field(default_factory=list)
    place: int = 0


def plan_transfers(ops: Sequence[ir.Operation], arrays: Arrays) -> dict[int, Batch]:
    """Returns the batches by their places in `ops`.

    Transfers between the same two meshes are one operation as long as nothing between the first
    and the last uses what any of them brings: to copy several arrays costs the runtime little more
    than to copy one, and nobody waits longer.
    """
    open_: dict[Hashable, Batch] = {}
    bringing: dict[ir.Value, Hashable] = {}
    batches: list[Batch] = []
    for place, op in enumerate(ops):
        for operand in op.operands:
            ends = bringing.pop(operand, None)
            if ends is not None:
                open_.pop(ends, None)
        if op.name != TRANSFER:
            continue
        result = op.results[0]
        if not any(True for _ in result.uses):
            batches.append(Batch([op], place))
            continue
        ends = _ends(arrays.of(op.operands[0]), arrays.of(result))
        if ends not in open_:
            open_[ends] = Batch()
            batches.append(open_[ends])
        open_[ends].ops.append(op)
        open_[ends].place = place
        bringing[result] = ends
    return {batch.place: batch for batch in batches}


def _ends(source: Array, target: Array) -> Hashable:
    """Returns what transfers in one operation have in common."""
    return (
        source.sharding == target.sharding,
        (source.mesh, source.memory_kind),
        (target.mesh, target.memory_kind),
    )


class Transfers:
    """Lowers batches of transfers at the insertion point `ip`."""

    def __init__(
        self, arrays: Arrays, values: dict[ir.Value, ir.Value], ip: ir.InsertionPoint
    ) -> None:
        self._arrays = arrays
        self._values = values
        self._ip = ip
        self._control = ir.Type.parse("!ifrt.control")

    def add(self, batch: Batch) -> None:
        """Lowers one batch."""
        results = [op.results[0] for op in batch.ops]
        last = batch.ops[-1]
        source, target = self._arrays.of(last.operands[0]), self._arrays.of(last.results[0])
        made = ir.Operation.create(
            _COPY if source.sharding == target.sharding else _RESHARD,
            results=[*(self._arrays.of(result).type for result in results), self._control],
            operands=[self._values[op.operands[0]] for op in batch.ops],
            attributes={"operandSegmentSizes": segment_sizes(len(results), has_control=False)},
            loc=last.location,
            ip=self._ip,
        )
        self._values.update(zip(results, list(made.results)[:-1], strict=True))
