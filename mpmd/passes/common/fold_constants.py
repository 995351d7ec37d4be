"""The pass `mpmd-fold-constants`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.functions import entry_block, functions
from mpmd.passes.base import Pass
from mpmd.passes.common._splats import compute, constant, is_true, number_of, splat_of

RESHAPE, SLICE = "stablehlo.reshape", "stablehlo.slice"
_MOVING = frozenset((RESHAPE, SLICE, "stablehlo.broadcast_in_dim", "stablehlo.transpose"))
_BINARY = frozenset(
    "stablehlo." + name for name in ("add", "subtract", "multiply", "divide", "select")
)


@dataclass(frozen=True)
class FoldConstants(Pass):
    """Computes what constants decide: values that are equal everywhere, and what adds or selects.

    A value that costs nothing to make is made wherever it is used, instead of being an operand, a
    result or a transfer.

        %1 = stablehlo.broadcast_in_dim %c, dims = []  ~~>  %1 = stablehlo.constant dense<...>
        stablehlo.add %x, %zero                        ~~>  %x
        stablehlo.select %true, %x, %y                 ~~>  %x
        stablehlo.slice (stablehlo.concatenate %x, %y) ~~>  %y, or a slice of it

    Only constants all of whose elements are equal are computed with, so no constant grows. Adding a
    zero to a negative zero is the one result that can change.
    """

    name: ClassVar[str] = "mpmd-fold-constants"

    def run(self, module: ir.Operation) -> None:
        for func in functions(module):
            _Folder().fold_block(entry_block(func))


class _Folder:
    """Folds the operations of a function in order; remembers the constants that it met."""

    def __init__(self) -> None:
        self._splats: dict[ir.Value, ir.Attribute] = {}

    def fold_block(self, block: ir.Block) -> None:
        """Folds in `block` and in the regions of its operations."""
        for op in [op.operation for op in block.operations]:
            name = op.name
            if name == "stablehlo.constant":
                self._remember(op.results[0], splat_of(op))
            elif name in _MOVING or name in _BINARY:
                self._replace(op, self._fold(op, name))
            else:
                for region in op.regions:
                    for nested in region.blocks:
                        self.fold_block(nested)

    def _remember(self, value: ir.Value, element: ir.Attribute | None) -> None:
        if element is not None:
            self._splats[value] = element

    def _replace(self, op: ir.Operation, folded: ir.Value | ir.Attribute | None) -> None:
        if folded is None:
            return
        if isinstance(folded, ir.Attribute):
            element, folded = folded, constant(folded, op)
            self._splats[folded] = element
        op.results[0].replace_all_uses_with(folded)
        op.erase()

    def _fold(self, op: ir.Operation, name: str) -> ir.Value | ir.Attribute | None:
        """Returns the value or the element of the constant that `op` is, where that is known."""
        if name in _MOVING:
            element = self._splats.get(op.operands[0])
            return element if element is not None else _look_through(op, name)
        if name == "stablehlo.select":
            return self._select(op)
        left, right = map(self._splats.get, op.operands)
        if left is not None and right is not None:
            return compute(name, left, right)
        if right is not None and number_of(right) == _NEUTRAL_RIGHT.get(name):
            return op.operands[0]
        if left is not None and number_of(left) == _NEUTRAL_LEFT.get(name):
            return op.operands[1]
        return None

    def _select(self, op: ir.Operation) -> ir.Value | None:
        predicate = self._splats.get(op.operands[0])
        chosen = None if predicate is None else is_true(predicate)
        return None if chosen is None else op.operands[1 if chosen else 2]


_NEUTRAL_RIGHT = {
    "stablehlo.add": 0,
    "stablehlo.subtract": 0,
    "stablehlo.multiply": 1,
    "stablehlo.divide": 1,
}
_NEUTRAL_LEFT = {"stablehlo.add": 0, "stablehlo.multiply": 1}


# --- what only moves elements -------------------------------------------------------------------


def _look_through(op: ir.Operation, name: str) -> ir.Value | None:
    """Returns a value that is simpler to make than moving what was moved before."""
    operand, type_ = op.operands[0], op.results[0].type
    if name in (RESHAPE, SLICE) and operand.type == type_:
        return operand
    maker = operand.owner.operation if isinstance(operand, ir.OpResult) else None
    look = _LOOKING.get((name, maker.name)) if maker is not None else None
    return look(op, maker) if look is not None else None


def _reshape_of_reshape(op: ir.Operation, inner: ir.Operation) -> ir.Value:
    source = inner.operands[0]
    if source.type == op.results[0].type:
        return source
    return _create(RESHAPE, op, source, {})


def _slice_of_concatenate(op: ir.Operation, concatenate: ir.Operation) -> ir.Value | None:
    """Slices the one operand of a concatenation in which the slice lies."""
    dimension = ir.IntegerAttr(concatenate.attributes["dimension"]).value
    bounds = {
        key: list(ir.DenseI64ArrayAttr(op.attributes[key])) for key in ("start_indices", "limit_indices")
    }
    first, limit = (bounds[key][dimension] for key in ("start_indices", "limit_indices"))
    offset = 0
    for part in concatenate.operands:
        size = ir.RankedTensorType(part.type).get_dim_size(dimension)
        if offset <= first and limit <= offset + size:
            if part.type == op.results[0].type:
                return part
            for values in bounds.values():
                values[dimension] -= offset
            attributes = {key: ir.DenseI64ArrayAttr.get(v) for key, v in bounds.items()}
            return _create(SLICE, op, part, {**attributes, "strides": op.attributes["strides"]})
        offset += size
    return None


_LOOKING: dict[
    tuple[str, str], Callable[[ir.Operation, ir.Operation], ir.Value | None]
] = {
    (RESHAPE, RESHAPE): _reshape_of_reshape,
    (SLICE, "stablehlo.concatenate"): _slice_of_concatenate,
}


def _create(
    name: str, op: ir.Operation, operand: ir.Value, attributes: dict[str, ir.Attribute]
) -> ir.Value:
    return ir.Operation.create(
        name,
        results=[op.results[0].type],
        operands=[operand],
        attributes=attributes,
        ip=ir.InsertionPoint(op),
        loc=op.location,
    ).result
