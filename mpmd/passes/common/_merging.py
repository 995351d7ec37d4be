"""Merging of fragments: how two become one, and the walk that several merging passes share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from itertools import chain

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import Origin, read_strings, strings_attribute, ui32
from mpmd.dialect.fragment import ARGUMENT, Bodies, Fragment, Wire, compose
from mpmd.passes.common._flow import Flow, FlowPass, Node, Slot

INFERRED_BY = "mpmd.inferred_by"
CALL_COUNTER = "call_counter"
SPLIT_KEEP, SPLIT_DROP = "split_keep_transferred", "split_drop_transferred"


def merge(flow: Flow, producer: Node, consumer: Node, *, at_producer: bool) -> Node:
    """Notes that `producer` and `consumer` become one fragment; returns it.

    It takes the place of one of them. Its results are those of the producer that others use, then
    the consumer's. Its operands are the producer's, then the consumer's, each value once; but where
    one operand goes in and one result comes out, to be used once, that operand takes the place of
    the result, and all others stay as they are.
    """
    producer.open()
    consumer.open()
    outside = [
        result for result in producer.results if any(user is not consumer for user in result.uses())
    ]
    passed = {id(result) for result in producer.results}
    holes = [place for place, slot in enumerate(consumer.slots) if id(slot.value) in passed]
    if len(producer.results) == len(producer.slots) == len(holes) == 1 and not outside:
        consumer.slots[holes[0]] = producer.slots[0]
    else:
        kept = [slot for slot in consumer.slots if id(slot.value) not in passed]
        consumer.slots = _unified(producer.slots + kept)
    consumer.parts = producer.parts + consumer.parts
    consumer.results = outside + consumer.results
    consumer.origins = union_of_origins(producer.origins, consumer.origins)
    if consumer.stage_id() is None:
        consumer.stage = producer.stage_id()
    consumer.is_unit |= producer.is_unit
    consumer.after_unit |= producer.after_unit
    consumer.before_unit |= producer.before_unit
    producer.into = consumer
    if at_producer:
        before, after = producer.preceding, producer.following
        if after is consumer:
            after = consumer.following
        flow.unlink(consumer)
        flow.unlink(producer)
        flow.link(before, consumer, after)
        consumer.order, consumer.anchor = producer.order, producer.anchor
    else:
        flow.unlink(producer)
    return consumer


def _unified(slots: Sequence[Slot]) -> list[Slot]:
    """Returns one slot per value, in order of first appearance."""
    first: dict[int, Slot] = {}
    for slot in slots:
        kept = first.setdefault(id(slot.value), slot)
        if kept is not slot:
            slot.into = kept
    return list(first.values())


def write(flow: Flow, *, keep_dead: bool = True) -> None:
    """Makes the fragments that were noted, and erases what they replace.

    Operations in their bodies that nothing needs go too unless `keep_dead` is set.
    """
    roots = dict.fromkeys(node.root() for node in flow.all_nodes() if node.into is not None)
    merged = [root for root in roots if not root.erased]
    for root in sorted(merged, key=lambda node: node.order):
        _compose(flow.bodies, root, keep_dead)
    flow.erase_gone()


def _compose(bodies: Bodies, root: Node, keep_dead: bool) -> None:
    numbers = {id(part): number for number, part in enumerate(root.parts)}
    places = {id(slot): place for place, slot in enumerate(root.slots)}

    def wire(slot: Slot) -> Wire:
        slot = slot.root()
        if id(slot) in places:
            return (ARGUMENT, places[id(slot)])
        return (numbers[id(slot.value.node)], slot.value.index)

    new = compose(
        bodies,
        [Fragment(part.op) for part in root.parts],
        [slot.value.now for slot in root.slots],
        [[wire(slot) for slot in part.own_slots] for part in root.parts],
        [(numbers[id(result.node)], result.index) for result in root.results],
        mesh=root.mesh,
        origins=root.origins,
        stage=root.stage_id(),
        attributes=root.discardable(),
        ip=ir.InsertionPoint(root.anchor),
        keep_dead=keep_dead,
    )
    for result, value in zip(root.results, new.op.results, strict=True):
        result.now.replace_all_uses_with(value)
        result.now = value


# --- attributes ---------------------------------------------------------------------------------


def union_of_origins(*each: Sequence[Origin]) -> tuple[Origin, ...]:
    """Returns all origins, each once, in order of first appearance."""
    return tuple(dict.fromkeys(origin for origins in each for origin in origins))


def merged_attributes(producer: Node, consumer: Node) -> dict[str, ir.Attribute]:
    """Returns the discardable attributes of two fragments that merge: only these survive.

    Both agree on the microbatch, or one has none, or the user's fragment decides. What inferred
    a fragment is kept while all of it is inferred.
    """
    attributes: dict[str, ir.Attribute] = {}
    counter = _merged_counter(producer, consumer)
    if counter is not None:
        attributes[CALL_COUNTER] = ui32(counter)
    if producer.is_inferred != consumer.is_inferred:
        # A half of a backward stays one, whatever of no label it takes in.
        marks = (consumer if producer.is_inferred else producer).discardable()
        attributes.update({key: marks[key] for key in (SPLIT_KEEP, SPLIT_DROP) if key in marks})
    if producer.is_inferred and consumer.is_inferred:
        reasons = union_of_reasons(producer.discardable(), consumer.discardable())
        if reasons is not None:
            attributes[INFERRED_BY] = reasons
    return attributes


def _merged_counter(producer: Node, consumer: Node) -> int | None:
    first, second = producer.call_counter(), consumer.call_counter()
    if first is None or second is None or first == second:
        return second if first is None else first
    if producer.is_inferred == consumer.is_inferred:
        return None
    return second if producer.is_inferred else first


def union_of_reasons(*each: dict[str, ir.Attribute]) -> ir.Attribute | None:
    """Returns all that inferred these fragments; None where nothing says so."""
    found = [attributes[INFERRED_BY] for attributes in each if INFERRED_BY in attributes]
    if not found:
        return None
    return strings_attribute(list(dict.fromkeys(chain.from_iterable(map(read_strings, found)))))


def stages_agree(one: Node, other: Node) -> bool:
    """Tells whether two fragments have the same stage, or at least one has none."""
    first, second = one.stage_id(), other.stage_id()
    return first is None or second is None or first == second


def transpose_count(node: Node) -> int | None:
    """Returns the transpose count that all origins of a fragment agree on."""
    counts = {origin.transpose_count for origin in node.origins}
    return counts.pop() if len(counts) == 1 else None


# --- the walk ------------------------------------------------------------------------------------


class MergingPass(FlowPass):
    """A pass that merges fragments of one mesh, last to first, each as often as it can.

    A fragment merges with its candidate, by default its closest consumer, where the dependencies of
    others leave room: at the place of the consumer, where nothing before that uses the producer,
    or else at the producer's, where all that the consumer takes is there already. Unused fragments
    go.
    """

    merges_with_any_consumer: bool = False
    """Whether a consumer may be passed over in favour of one further away."""

    @abstractmethod
    def allows(self, producer: Node, consumer: Node, *, is_closest: bool) -> bool:
        """Tells whether these two fragments, of one mesh, may merge at all."""

    def candidate(self, flow: Flow, fragment: Node) -> Node | None:
        """Returns the later fragment that `fragment` should merge with."""
        users = dict.fromkeys(user for user in fragment.consumers() if user.is_fragment)
        closest = not self.merges_with_any_consumer
        if closest:
            consumers = [min(users, key=lambda user: user.order)] if users else []
        else:
            consumers = sorted(users, key=lambda user: user.order)
        for consumer in consumers:
            if self.allows(fragment, consumer, is_closest=closest):
                return consumer
        return None

    def mergeable(self, flow: Flow) -> set[Node] | None:
        """Returns the fragments that may have a candidate to merge with; None for all of them."""
        return None

    def run_on_flow(self, flow: Flow) -> None:
        mergeable = self.mergeable(flow)
        for node in reversed(flow.nodes):
            if node.is_fragment and node.into is None:
                if node.is_unused() and flow.is_pure(node):
                    flow.erase(node)
                elif mergeable is None or node in mergeable:
                    self._merge_from(flow, node)
        write(flow)

    def _merge_from(self, flow: Flow, node: Node) -> None:
        while True:
            other = self.candidate(flow, node)
            if other is None:
                return
            at_consumer = not any(user.order < other.order for user in node.consumers())
            if not at_consumer and not _ready_at(node, other):
                return
            attributes = merged_attributes(node, other)
            node = merge(flow, node, other, at_producer=not at_consumer)
            node.attributes = attributes


def _ready_at(producer: Node, consumer: Node) -> bool:
    """Tells whether all that `consumer` takes is made by `producer` or before it."""
    return all(maker is producer or maker.order < producer.order for maker in consumer.producers())
