"""The pass `mpmd-accumulate-in-order`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from mpmd.dialect._jaxlib import inline_call, ir
from mpmd.dialect.fragment import Bodies
from mpmd.dialect.functions import (
    callee_name,
    entry_block,
    functions,
    is_entry_point,
    terminator,
    update_function_type,
)
from mpmd.passes.base import Pass
from mpmd.passes.common._accumulation import (
    ADD,
    Sum,
    accumulators,
    calls_by_callee,
    independent,
    microbatch,
    sort_by_dependencies,
    sums,
)
from mpmd.passes.common._flow import MPMD_CALL, Flow, Node, Value


@dataclass(frozen=True)
class AccumulateInOrder(Pass):
    """Adds up what microbatches return as they run, from the first to the last.

    The gradient of a loop over microbatches, taken as a whole, goes from the last microbatch to the
    first, and the gradient of a sum of calls returns everything before it adds anything. A schedule
    that runs the first microbatch's backward first then cannot be followed, or every microbatch's
    gradient waits for all others. Here each call takes the sum so far and returns the next one:

        %3 = call @b(%x3, %0) {call_counter = 1}       %1 = call @b(%x1, %0) {call_counter = 0}
        %1 = call @b(%x1, %3) {call_counter = 0}  ~~>  %3 = call @b(%x3, %1) {call_counter = 1}
        return %1                                      return %3

        %1 = call @b(%x1) {call_counter = 0}           %1 = call @b_sum(%x1, 0) {call_counter = 0}
        %3 = call @b(%x3) {call_counter = 1}      ~~>  %3 = call @b_sum(%x3, %1) {call_counter = 1}
        return add %3, %1                              return %3

    The same numbers are added in another order, so a sum may differ in its last digit. Runs before
    mesh inference, on calls with counters, and leaves alone calls that need each other's results in
    another way, such as the state of a recurrent model.
    """

    name: ClassVar[str] = "mpmd-accumulate-in-order"

    def run(self, module: ir.Operation) -> None:
        bodies = Bodies(module)
        # Listed before callees are erased.
        for func in list(filter(is_entry_point, functions(module))):
            # One change at a time: whether calls are independent depends on what was chained.
            while _change(func, bodies):
                sort_by_dependencies(entry_block(func))


def _change(func: ir.Operation, bodies: Bodies) -> bool:
    flow = Flow(func, bodies)
    changed = _sum_in_callees(flow) or _order_a_chain(flow)
    flow.release()
    return changed


# --- calls that pass a sum on --------------------------------------------------------------------


def _order_a_chain(flow: Flow) -> bool:
    """Makes one sum that calls pass on go from the first microbatch to the last, if it can."""
    for name, calls in calls_by_callee(flow).items():
        pairs = accumulators(flow.bodies.function(name)) if len(calls) > 1 else {}
        members = set(calls)
        for chain in _chains(calls, pairs):
            ordered = sorted(chain, key=microbatch)
            if ordered == chain or len({*map(microbatch, chain)}) < len(chain):
                continue
            linked = {
                argument: result
                for argument, result in pairs.items()
                if all(
                    _link(after, argument, result, members) is call
                    for call, after in pairwise(chain)
                )
            }
            links = {call.results[result] for call in chain for result in linked.values()}
            if independent(flow, chain, links):
                for argument, result in linked.items():
                    _relink(chain, ordered, argument, result)
                return True
    return False


def _link(call: Node, argument: int, result: int, members: set[Node]) -> Node | None:
    """Returns which of `members` makes, as `result`, what this call alone takes as `argument`."""
    value = call.inputs[argument]
    is_link = value.index == result and value.node in members and len(value.users) == 1
    return value.node if is_link else None


def _chains(calls: Sequence[Node], pairs: dict[int, int]) -> list[list[Node]]:
    """Returns the calls that pass an accumulator on, in the order in which they do."""
    members = set(calls)
    chains: dict[Node, list[Node]] = {}
    for call in calls:
        links = (_link(call, argument, result, members) for argument, result in pairs.items())
        before = next((link for link in links if link is not None), None)
        chain = chains.pop(before, [before]) if before is not None else []
        chains[call] = [*chain, call]
    return [chain for chain in chains.values() if len(chain) > 1]


def _relink(chain: list[Node], ordered: list[Node], argument: int, result: int) -> None:
    """Passes an accumulator on from call to call in another order."""
    first, total = chain[0].op.operands[argument], chain[-1].op.results[result]
    new_total = ordered[-1].op.results[result]
    if new_total != total:
        total.replace_all_uses_with(new_total)
    ordered[0].op.operands[argument] = first
    for before, call in pairwise(ordered):
        call.op.operands[argument] = before.op.results[result]


# --- calls whose results are added up ------------------------------------------------------------


def _sum_in_callees(flow: Flow) -> bool:
    """Makes one callee add to what it is given where the function adds up its results."""
    groups: dict[tuple[Node, ...], dict[int, Sum]] = {}
    for each in sums(flow):
        for (_, result), calls in _terms_of_calls(each).items():
            groups.setdefault(calls, {}).setdefault(result, each)
    for calls, totals in groups.items():
        if independent(flow, calls, set()):
            _sum_in_calls(flow, calls, totals)
            return True
    return False


def _terms_of_calls(each: Sum) -> dict[tuple[str, int], tuple[Node, ...]]:
    """Returns (callee, result) -> the calls of distinct microbatches whose results are terms."""
    found: dict[tuple[str, int], list[Node]] = {}
    for term in each.terms:
        call = term.node
        is_call = call is not None and call.name == MPMD_CALL
        if call is not None and is_call and "call_counter" in call.op.attributes:
            if len(term.users) == 1:
                found.setdefault((callee_name(call.op), term.index), []).append(call)
    return {
        key: tuple(sorted(calls, key=microbatch))
        for key, calls in found.items()
        if len({*map(microbatch, calls)}) == len(calls) > 1
    }


def _sum_in_calls(flow: Flow, calls: tuple[Node, ...], totals: dict[int, Sum]) -> None:
    results = sorted(totals)
    old = callee_name(calls[0].op)
    new = _summing_callee(flow.bodies, old, results)
    start = ir.InsertionPoint.at_block_begin(entry_block(flow.func))
    running = [_zeros(calls[0].op.results[result].type, start) for result in results]
    made: list[ir.Operation] = []
    for call in calls:
        attributes = {**dict(call.op.attributes.items()), "callee": ir.FlatSymbolRefAttr.get(new)}
        summing = ir.Operation.create(
            MPMD_CALL,
            results=[result.type for result in call.op.results],
            operands=[*call.op.operands, *running],
            attributes=attributes,
            ip=ir.InsertionPoint(call.op),
            loc=call.op.location,
        )
        for number, value in enumerate(call.op.results):
            if number not in totals:
                value.replace_all_uses_with(summing.results[number])
        running = [summing.results[result] for result in results]
        made.append(summing)
    # Two results of a call may be terms of one sum.
    for total in dict.fromkeys(totals.values()):
        finals = {
            call.results[result]: value
            for result, value in zip(results, running, strict=True)
            if totals[result] is total
            for call in calls
        }
        _replace_terms(total, finals)
    called = [node for node in flow.nodes if node.name == MPMD_CALL and callee_name(node.op) == old]
    for call in calls:
        call.op.erase()
    if len(called) == len(calls):
        flow.bodies.erase(old)


def _summing_callee(bodies: Bodies, name: str, results: Sequence[int]) -> str:
    """Returns a function like `name` that adds what more it takes to some of its results."""
    source = bodies.function(name)
    inputs = [argument.type for argument in entry_block(source).arguments]
    returned = [value.type for value in terminator(entry_block(source)).operands]
    inherited = {
        key: value
        for key, value in source.attributes.items()
        if key not in ("sym_name", "sym_visibility", "function_type", "arg_attrs", "res_attrs")
    }
    new, block = bodies.add_function(
        f"{name}_sum", [*inputs, *(returned[result] for result in results)], inherited
    )
    arguments = list(block.arguments)
    with ir.InsertionPoint(block):
        values = list(inline_call(source, arguments[: len(inputs)]))
    for result, running in zip(results, arguments[len(inputs) :], strict=True):
        values[result] = _add(running, values[result], ir.InsertionPoint(block))
    ir.Operation.create("func.return", operands=values, ip=ir.InsertionPoint(block))
    update_function_type(bodies.function(new))
    return new


def _replace_terms(total: Sum, finals: dict[Value, ir.Value]) -> None:
    """Makes a sum have the values of `finals` for terms, each once, instead of its keys."""
    terms = dict.fromkeys(finals.get(term, term.now) for term in total.terms)
    first, *others = terms
    ip = ir.InsertionPoint(total.root.op)
    for term in others:
        first = _add(first, term, ip)
    total.root.op.results[0].replace_all_uses_with(first)
    for add in reversed(total.adds):
        add.op.erase()


def _add(left: ir.Value, right: ir.Value, ip: ir.InsertionPoint) -> ir.Value:
    return ir.Operation.create(ADD, results=[left.type], operands=[left, right], ip=ip).results[0]


def _zeros(type_: ir.Type, ip: ir.InsertionPoint) -> ir.Value:
    element = ir.RankedTensorType(type_).element_type
    zero = (
        ir.IntegerAttr.get(element, 0)
        if isinstance(element, ir.IntegerType)
        else ir.FloatAttr.get(element, 0.0)
    )
    value = ir.DenseElementsAttr.get_splat(type_, zero)
    return ir.Operation.create(
        "stablehlo.constant", results=[type_], attributes={"value": value}, ip=ip
    ).results[0]
