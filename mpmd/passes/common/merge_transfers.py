"""The pass `mpmd-merge-transfers`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import i64, read_mesh_tensor
from mpmd.dialect.fragment import Fragment, edit, set_returned
from mpmd.dialect.functions import terminator
from mpmd.passes.common._flow import TRANSFER, Flow, FlowPass, Node

CONCAT_TRANSFER = "concat_transfer"


@dataclass(frozen=True)
class MergeTransfers(FlowPass):
    """Merges transfers of single elements that go from one fragment to another.

    Each transfer has a cost that does not depend on its size, which for a scalar is all of it. The
    producer concatenates what the consumer slices apart again:

        %0:2 = fragment<"m0", ["f"]> ...                 %0:3 = fragment<"m0", ["f"]> ... {
        %1 = transfer %0#0                                 ... return %x, %y, concatenate %x, %y }
        %2 = transfer %0#1                      ~~>      %1 = transfer {concat_transfer} %0#2
        %3 = fragment<"m1", ["g"]> (%1, %2)              %3 = fragment<"m1", ["g"]> (.., %1) {
                                                           ... uses slices of its last operand }

    The old transfers stay where something else uses them. Requires equal types, of at most one
    element and without a sharding.
    """

    name: ClassVar[str] = "mpmd-merge-transfers"

    def run_on_flow(self, flow: Flow) -> None:
        for node in flow.nodes:
            if node.is_fragment:
                _merge_from(flow, node)


def _merge_from(flow: Flow, producer: Node) -> None:
    groups = [group for group in _groups(producer).items() if len(group[1]) > 1]
    if not groups:
        return
    gathered = [[transfer.inputs[0].index for transfer in each] for _, each in groups]
    joined = [_joined_type(each[0], len(each)) for _, each in groups]

    def append_concatenations(block: ir.Block) -> None:
        returned = list(terminator(block).operands)
        extra = [_concatenate(block, [returned[i] for i in numbers]) for numbers in gathered]
        set_returned(block, returned + extra)

    key = ("concatenate", *map(tuple, gathered))
    types = [source for source, _ in joined]
    made = edit(flow.bodies, Fragment(producer.op), append_concatenations, key, results=types)
    producer.op = made.op
    news = list(made.op.results)[-len(groups) :]
    for ((consumer, _), transfers), value, (_, target) in zip(groups, news, joined, strict=True):
        transfer = ir.Operation.create(
            TRANSFER,
            results=[target],
            operands=[value],
            attributes={CONCAT_TRANSFER: ir.UnitAttr.get()},
            ip=ir.InsertionPoint(producer.op),
            loc=transfers[0].op.location,
        )
        transfer.move_after(producer.op)
        _take_apart(flow, consumer, transfers, transfer.results[0])


def _groups(producer: Node) -> dict[tuple[Node, ir.Type], list[Node]]:
    """Returns the transfers of single elements of `producer`, by consumer and type."""
    groups: dict[tuple[Node, ir.Type], list[Node]] = {}
    for result in producer.results:
        for transfer in result.users:
            if transfer.name != TRANSFER or not _is_small(transfer):
                continue
            for consumer in reversed(dict.fromkeys(transfer.results[0].users)):
                if consumer.is_fragment:
                    key = (consumer, transfer.op.results[0].type)
                    groups.setdefault(key, []).append(transfer)
    return groups


def _is_small(transfer: Node) -> bool:
    source, target = (
        read_mesh_tensor(value.type) for value in (transfer.op.operands[0], transfer.op.results[0])
    )
    assert source is not None
    assert target is not None
    return all(each.sharding is None and _elements(each.tensor) <= 1 for each in (source, target))


def _elements(tensor: ir.Type) -> int:
    count = 1
    for size in ir.RankedTensorType(tensor).shape:
        count *= size
    return count


def _joined_type(transfer: Node, count: int) -> tuple[ir.Type, ir.Type]:
    """Returns the types, at both ends, of `count` values like the one that `transfer` moves."""

    def joined(value: ir.Value) -> ir.Type:
        parts = read_mesh_tensor(value.type)
        assert parts is not None
        tensor = ir.RankedTensorType(parts.tensor)
        shape = [count, *tensor.shape]
        return parts.with_(tensor=ir.RankedTensorType.get(shape, tensor.element_type)).type

    return joined(transfer.op.operands[0]), joined(transfer.op.results[0])


def _concatenate(block: ir.Block, values: Sequence[ir.Value]) -> ir.Value:
    """Adds the concatenation of `values`, along a new first dimension, at the end of `block`."""
    ip = ir.InsertionPoint(terminator(block))
    tensor = ir.RankedTensorType(values[0].type)
    pieces = [_reshape(value, [1, *tensor.shape], ip) for value in values]
    return ir.Operation.create(
        "stablehlo.concatenate",
        results=[ir.RankedTensorType.get([len(values), *tensor.shape], tensor.element_type)],
        operands=pieces,
        attributes={"dimension": i64(0)},
        ip=ip,
    ).results[0]


def _reshape(value: ir.Value, shape: Sequence[int], ip: ir.InsertionPoint) -> ir.Value:
    type_ = ir.RankedTensorType.get(shape, ir.RankedTensorType(value.type).element_type)
    return ir.Operation.create(
        "stablehlo.reshape", results=[type_], operands=[value], ip=ip
    ).results[0]


def _take_apart(flow: Flow, consumer: Node, transfers: Sequence[Node], joined: ir.Value) -> None:
    """Makes a fragment use slices of one operand instead of the values of `transfers`."""
    replaced = {id(transfer.results[0]): piece for piece, transfer in enumerate(transfers)}
    pieces = {
        number: replaced[id(value)]
        for number, value in enumerate(consumer.inputs)
        if id(value) in replaced
    }

    def slice_new_argument(block: ir.Block) -> None:
        parts = read_mesh_tensor(joined.type)
        assert parts is not None
        whole = block.add_argument(parts.tensor, ir.Location.unknown())
        ip = ir.InsertionPoint.at_block_begin(block)
        slices = [_slice(whole, piece, ip) for piece in range(len(transfers))]
        for number, piece in pieces.items():
            block.arguments[number].replace_all_uses_with(slices[piece])

    key = ("slice", tuple(pieces.items()), len(transfers))
    fragment = Fragment(consumer.op)
    consumer.op = edit(flow.bodies, fragment, slice_new_argument, key, operands=[joined]).op


def _slice(whole: ir.Value, piece: int, ip: ir.InsertionPoint) -> ir.Value:
    """Returns element `piece` along the first dimension, without that dimension."""
    tensor = ir.RankedTensorType(whole.type)
    shape = list(tensor.shape)
    starts = [piece, *[0] * (len(shape) - 1)]
    limits = [piece + 1, *shape[1:]]
    sliced = ir.Operation.create(
        "stablehlo.slice",
        results=[ir.RankedTensorType.get([1, *shape[1:]], tensor.element_type)],
        operands=[whole],
        attributes={
            "start_indices": ir.DenseI64ArrayAttr.get(starts),
            "limit_indices": ir.DenseI64ArrayAttr.get(limits),
            "strides": ir.DenseI64ArrayAttr.get([1] * len(shape)),
        },
        ip=ip,
    ).results[0]
    return _reshape(sliced, shape[1:], ip)
