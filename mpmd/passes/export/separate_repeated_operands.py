"""mpmd-separate-repeated-operands."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.fragment import ARGUMENT, Bodies, Fragment, compose, fragments
from mpmd.dialect.functions import callee_name, entry_block
from mpmd.passes.base import FunctionPass
from mpmd.passes.export._value_attributes import ARG, RES, read


@dataclass(frozen=True)
class SeparateRepeatedOperands(FunctionPass):
    """Makes a fragment return a value once for each time that its one user takes it.

    A buffer that a fragment takes twice cannot be consumed by it. The zeros that a first microbatch
    adds its gradients to are such buffers; as results of their own, each becomes the sum.

        %0 = fragment_call @zeros()                  %0:2 = fragment_call @zeros_0()
        %1:2 = fragment_call @add(%x, %0, %0)  ~~>   %1:2 = fragment_call @add(%x, %0#0, %0#1)

    Looks at fragment calls whose function no other call names, so that no program is added.
    """

    name: ClassVar[str] = "mpmd-separate-repeated-operands"

    def run_on_function(self, func: ir.Operation) -> None:
        bodies = Bodies(func.parent.operation)
        calls = [each for each in fragments(entry_block(func)) if each.is_call]
        named = Counter(callee_name(each.op) for each in calls)
        for call in calls:
            if named[callee_name(call.op)] == 1:
                _separate(bodies, call)
        bodies.erase_unused()


def _separate(bodies: Bodies, producer: Fragment) -> None:
    uses = [[use for use in result.uses] for result in producer.op.results]
    repeated = [number for number, each in enumerate(uses) if _are_of_one_fragment(each)]
    per_value = [read(producer.op, ARG, 0), read(producer.op, RES, 0)]
    if not repeated or any(any(each) for each in per_value):
        return
    outputs = list(range(len(uses)))
    places: list[list[int]] = []
    for number in repeated:
        extra = len(uses[number]) - 1
        places.append([number, *range(len(outputs), len(outputs) + extra)])
        outputs += [number] * extra
    operands = producer.operands
    new = compose(
        bodies,
        [producer],
        operands,
        [[(ARGUMENT, number) for number in range(len(operands))]],
        [(0, number) for number in outputs],
        mesh=producer.mesh,
        origins=producer.origins,
        stage=producer.stage,
        attributes={k: v for k, v in producer.discardable.items() if k not in (ARG, RES)},
        ip=ir.InsertionPoint(producer.op),
        loc=producer.op.location,
    )
    for number, mine in zip(repeated, places, strict=True):
        user = uses[number][0].owner.operation
        taken = sorted(use.operand_number for use in uses[number])
        for operand, result in zip(taken, mine, strict=True):
            user.operands[operand] = new.op.results[result]
    for result, value in zip(producer.results, new.results, strict=False):
        result.replace_all_uses_with(value)
    producer.op.erase()


def _are_of_one_fragment(uses: list[ir.OpOperand]) -> bool:
    if len(uses) < 2:
        return False
    owners = {use.owner.operation for use in uses}
    return len(owners) == 1 and Fragment.of(owners.pop()) is not None
