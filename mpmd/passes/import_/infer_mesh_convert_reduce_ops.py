"""Mesh inference, step 3: reductions across meshes become an operation of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.functions import entry_block, functions
from mpmd.passes.base import Pass, option
from mpmd.passes.import_._mesh_graph import REDUCE_OP
from mpmd.passes.import_._mesh_sets import SRC_SET
from mpmd.passes.import_._reductions import (
    annotated_kind,
    is_identity,
    reduction_attribute,
    reduction_kind,
)


@dataclass(frozen=True)
class InferMeshConvertReduceOps(Pass):
    """Turns computations that are marked as reductions across meshes into `mpmd.reduce`.

    Chains of one kind become one reduce of all values, which can then be brought to the mesh that
    needs the result in any order.

        %2 = stablehlo.add %0, %1 {mpmd.reduce = #mpmd.reduction<add>}
        %4 = stablehlo.add %2, %3 {mpmd.reduce = #mpmd.reduction<add>}
      ~~>
        %4 = mpmd.reduce<add> %0, %1, %3

    A `stablehlo.reduce` over a stack of values becomes a reduce of the values; where its initial
    value is not known to change nothing, it takes part as one more value. Does nothing unless
    `infer-cross-mesh-reductions` is set.
    """

    name: ClassVar[str] = "mpmd-infer-mesh-convert-reduce-ops"
    infer_cross_mesh_reductions: bool = option(
        False, "Make reductions of computations whose operands are on different meshes."
    )

    def run(self, module: ir.Operation) -> None:
        if self.infer_cross_mesh_reductions:
            for func in functions(module):
                _convert(entry_block(func))


def _convert(block: ir.Block) -> None:
    for view in list(block.operations):
        op = view.operation
        kind = annotated_kind(op)
        if kind is None or op.name == "stablehlo.concatenate" or kind != reduction_kind(op):
            continue
        values = _stacked(op, kind) if op.name == "stablehlo.reduce" else list(op.operands)
        old = [value.owner for value in op.operands]
        reduced = _reduce(op, kind, [each for value in values for each in _terms(value, kind)])
        op.results[0].replace_all_uses_with(reduced)
        op.erase()
        for producer in dict.fromkeys(
            each.operation for each in old if not isinstance(each, ir.Block)
        ):
            _erase_unused(producer)


def _terms(value: ir.Value, kind: str) -> list[ir.Value]:
    """Returns the values whose reduction `value` is: itself, unless it is of the same kind."""
    producer = value.owner
    if isinstance(producer, ir.Block) or producer.operation.name != REDUCE_OP:
        return [value]
    op = producer.operation
    if op.attributes["reduction"] != reduction_attribute(kind):
        return [value]
    return list(op.operands)


def _reduce(op: ir.Operation, kind: str, values: list[ir.Value]) -> ir.Value:
    attributes = {"reduction": reduction_attribute(kind)}
    if SRC_SET in op.attributes:
        attributes[SRC_SET] = op.attributes[SRC_SET]
    return ir.Operation.create(
        REDUCE_OP,
        results=[op.results[0].type],
        operands=values,
        attributes=attributes,
        ip=ir.InsertionPoint(op),
        loc=op.location,
    ).results[0]


def _stacked(op: ir.Operation, kind: str) -> list[ir.Value]:
    """Returns the values of the stack that `op` reduces, in the shape of its result."""
    stack, initial = op.operands
    type_ = op.results[0].type
    values = [_reshaped(value, "stablehlo.reshape", type_, op) for value in stack.owner.operands]
    if not is_identity(initial, kind):
        values.append(_reshaped(initial, "stablehlo.broadcast_in_dim", type_, op))
    return values


def _reshaped(value: ir.Value, name: str, type_: ir.Type, before: ir.Operation) -> ir.Value:
    producer = value.owner
    attributes = {}
    if not isinstance(producer, ir.Block) and SRC_SET in producer.operation.attributes:
        attributes[SRC_SET] = producer.operation.attributes[SRC_SET]
    if name == "stablehlo.broadcast_in_dim":
        attributes["broadcast_dimensions"] = ir.DenseI64ArrayAttr.get([])
    return ir.Operation.create(
        name,
        results=[type_],
        operands=[value],
        attributes=attributes,
        ip=ir.InsertionPoint(before),
        loc=before.location,
    ).results[0]


def _erase_unused(op: ir.Operation) -> None:
    """Erases what the conversion made superfluous: reduces and stacks without a use."""
    if op.name in (REDUCE_OP, "stablehlo.concatenate"):
        if not any(True for _ in op.results[0].uses):
            op.erase()
