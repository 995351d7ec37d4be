"""Transfers as `ifrt.CopyArrays` and `ifrt.Reshard`."""

from __future__ import annotations

from mpmd.dialect._jaxlib import ir
from mpmd.lowering.calls import segment_sizes
from mpmd.lowering.types import Array, Arrays

_COPY, _RESHARD = "ifrt.CopyArrays", "ifrt.Reshard"


class Transfers:
    """Lowers transfers at the insertion point `ip`, neighbours with equal ends in one operation.

    A copy of several arrays costs the runtime little more than a copy of one.
    """

    def __init__(
        self, arrays: Arrays, values: dict[ir.Value, ir.Value], ip: ir.InsertionPoint
    ) -> None:
        self._arrays = arrays
        self._values = values
        self._ip = ip
        self._control = ir.Type.parse("!ifrt.control")
        self._pending: list[ir.Operation] = []
        self._ends: object = None
        self._made: set[ir.Value] = set()

    def add(self, op: ir.Operation) -> None:
        """Takes one transfer, to be lowered at the latest by `flush`."""
        source, target = op.operands[0], op.results[0]
        ends = _ends(self._arrays.of(source), self._arrays.of(target))
        if ends != self._ends or source in self._made:
            self.flush()
            self._ends = ends
        self._pending.append(op)
        self._made.add(target)

    def flush(self) -> None:
        """Lowers the transfers that were taken."""
        if not self._pending:
            return
        results = [op.results[0] for op in self._pending]
        first = self._pending[0]
        source, target = self._arrays.of(first.operands[0]), self._arrays.of(results[0])
        made = ir.Operation.create(
            _COPY if source.sharding == target.sharding else _RESHARD,
            results=[*(self._arrays.of(result).type for result in results), self._control],
            operands=[self._values[op.operands[0]] for op in self._pending],
            attributes={"operandSegmentSizes": segment_sizes(len(results), has_control=False)},
            loc=first.location,
            ip=self._ip,
        )
        self._values.update(zip(results, list(made.results)[:-1], strict=True))
        self._pending = []
        self._made = set()
        self._ends = None


def _ends(source: Array, target: Array) -> object:
    """Returns what transfers in one operation have in common."""
    return (
        source.sharding == target.sharding,
        (source.mesh, source.memory_kind),
        (target.mesh, target.memory_kind),
    )
