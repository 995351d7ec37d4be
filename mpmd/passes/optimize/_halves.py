"""How the body of a backward fragment falls into two: what leaves its mesh, and the rest."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.fragment import set_returned
from mpmd.dialect.functions import terminator
from mpmd.dialect.purity import is_pure
from mpmd.dialect.uses import used_values
from mpmd.passes.optimize._cheap import is_cheap
from mpmd.passes.optimize._cut import cheapest_cut

Place = tuple[int, int]
"""A value of a body, the same in every copy of it: (operation number, result number)."""

_ARGUMENT = -1
"""In a place, instead of the number of an operation: an argument of the body."""


@dataclass(frozen=True)
class Halves:
    """The two halves of a body."""

    leaving: tuple[int, ...]
    """The returned values of the early half."""
    staying: tuple[int, ...]
    """The returned values of the late half."""
    early: frozenset[int]
    """The operations of the early half."""
    late: frozenset[int]
    """The operations of the late half; what is cheap may be in both."""
    residuals: tuple[Place, ...]
    """The values that the early half returns for the late one."""
    residual_types: tuple[ir.Type, ...] = field(compare=False)
    shared: tuple[tuple[int, Place], ...] = ()
    """Results of the early half that leave, by number, and are the late one's values too."""

    @property
    def passed(self) -> list[tuple[int, Place]]:
        """The values that the late half takes from the early one, with their result numbers."""
        return [*enumerate(self.residuals, start=len(self.leaving)), *self.shared]

    def keep_early(self, block: ir.Block) -> None:
        """Makes a body the early half: it returns what leaves, then what is passed."""
        returned = list(terminator(block).operands)
        residuals = _values_at(block, self.residuals)
        set_returned(block, [*(returned[number] for number in self.leaving), *residuals])
        _erase_all_but(block, self.early)

    def keep_late(self, block: ir.Block) -> None:
        """Makes a body the late half, which takes what is passed as additional arguments."""
        for value in _values_at(block, [place for _, place in self.passed]):
            argument = block.add_argument(value.type, value.location)
            value.replace_all_uses_with(argument)
        returned = list(terminator(block).operands)
        set_returned(block, [returned[number] for number in self.staying])
        _erase_all_but(block, self.late)


def _values_at(block: ir.Block, places: Sequence[Place]) -> list[ir.Value]:
    operations = list(block.operations)
    return [
        block.arguments[index]
        if number == _ARGUMENT
        else operations[number].operation.results[index]
        for number, index in places
    ]


def _erase_all_but(block: ir.Block, kept: frozenset[int]) -> None:
    for number, op in reversed(list(enumerate(list(block.operations)[:-1]))):
        if number not in kept:
            op.operation.erase()


def plain_halves(block: ir.Block, leaving: Sequence[int]) -> Halves | None:
    """Returns the halves of a body where the late one takes all that it lacks from the early one.

    None where the early half has one operation more than results that leave: too little to wait
    for. (That the C++ partitioner in jaxlib draws the line there decides it.)
    """
    body = _Body(block)
    early = body.needed([body.returned[number] for number in leaving])
    if len(early) == len(leaving) + 1:
        return None
    staying = body.others(leaving)
    late, lacking = body.rest([body.returned[number] for number in staying], early)
    if not body.can_pass(lacking):
        return None
    late |= body.unneeded(early, late, lacking)
    return body.halves(leaving, early, late, lacking)


def lean_halves(
    block: ir.Block, leaving: Sequence[int], free_arguments: Iterable[int]
) -> Halves | None:
    """Returns the halves of a body that pass as few bytes as possible.

    The late half takes arguments itself, those in `free_arguments` at no cost as they are kept
    anyway, and repeats what is cheap. None where only cheap operations could be late.
    """
    body = _Body(block)
    early = body.needed([body.returned[number] for number in leaving])
    staying = body.others(leaving)
    late, lacking = body.rest([body.returned[number] for number in staying], early)
    if all(is_cheap(body.ops[number]) for number in late):
        return None
    kept = body.cheapest(lacking, early, free_arguments)
    late |= body.between(lacking, kept)
    passed = [place for place in sorted(kept) if place[0] != _ARGUMENT]
    if not body.can_pass(passed):
        return None
    left = {body.returned[number]: index for index, number in enumerate(leaving)}
    residuals = [place for place in passed if place not in left]
    shared = tuple((left[place], place) for place in passed if place in left)
    return replace(body.halves(leaving, early, late, residuals), shared=shared)


class _Body:
    """The data flow of a body in plain Python."""

    def __init__(self, block: ir.Block) -> None:
        *ops, last = [op.operation for op in block.operations]
        self.ops = ops
        self.types: dict[Place, ir.Type] = {}
        places: dict[ir.Value, Place] = {}

        def define(values: Iterable[ir.Value], number: int) -> None:
            for index, value in enumerate(values):
                places[value] = (number, index)
                self.types[number, index] = value.type

        define(block.arguments, _ARGUMENT)
        self.operands: list[list[Place]] = []
        for number, op in enumerate(ops):
            self.operands.append([places[value] for value in used_values(op) if value in places])
            define(op.results, number)
        self.returned = [places[value] for value in last.operands]

    def others(self, leaving: Sequence[int]) -> tuple[int, ...]:
        """Returns the numbers of the returned values that do not leave."""
        return tuple(number for number in range(len(self.returned)) if number not in leaving)

    def needed(self, roots: Iterable[Place]) -> set[int]:
        """Returns the operations that the values at `roots` need."""
        return self._walk(roots, set())[0]

    def rest(self, roots: Sequence[Place], early: set[int]) -> tuple[set[int], list[Place]]:
        """Returns the operations that are not early and needed, and the values that they lack.

        Needed is what the values at `roots` need, and what has an effect. Lacking are early values
        and arguments.
        """
        late, lacking = self._walk(roots, early)
        for number, op in enumerate(self.ops):
            if number not in early and number not in late and not is_pure(op):
                more, places = self._walk([*self.operands[number]], early)
                late |= more | {number}
                lacking += [place for place in places if place not in lacking]
        return late, lacking

    def unneeded(self, early: set[int], late: set[int], passed: Sequence[Place]) -> set[int]:
        """Returns the operations that nothing needs but that the late half has the operands of."""
        available = set(late)
        for number, operands in enumerate(self.operands):
            if number not in early and all(
                place[0] == _ARGUMENT or place[0] in available or place in passed
                for place in operands
            ):
                available.add(number)
        return available - late

    def _walk(self, roots: Iterable[Place], stop: set[int]) -> tuple[set[int], list[Place]]:
        """Follows values to what they are made of, last operand first.

        Returns the operations passed by, and the values where it ended: arguments, and values of
        operations in `stop`.
        """
        passed: set[int] = set()
        ends: list[Place] = []
        seen: set[Place] = set()
        todo = list(roots)
        while todo:
            place = todo.pop()
            if place in seen:
                continue
            seen.add(place)
            number = place[0]
            if number == _ARGUMENT or number in stop:
                ends.append(place)
            else:
                passed.add(number)
                todo += self.operands[number]
        return passed, ends

    def cheapest(
        self, lacking: Iterable[Place], early: set[int], free_arguments: Iterable[int]
    ) -> set[Place]:
        """Returns the values to keep so that those at `lacking` can be had, at the least bytes."""
        repeatable = {
            (number, index): self.operands[number]
            for number in early
            if is_cheap(self.ops[number])
            for index in range(len(self.ops[number].results))
        }
        costs = {place: _bits(type_) for place, type_ in self.types.items()}
        costs.update(((_ARGUMENT, number), 0) for number in free_arguments)
        return cheapest_cut(lacking, repeatable, costs)

    def between(self, wanted: Iterable[Place], kept: set[Place]) -> set[int]:
        """Returns the operations that compute the values at `wanted` from those at `kept`."""
        passed: set[int] = set()
        todo = [place for place in wanted if place not in kept]
        while todo:
            number = todo.pop()[0]
            if number not in passed:
                passed.add(number)
                todo += [place for place in self.operands[number] if place not in kept]
        return passed

    def halves(
        self, leaving: Sequence[int], early: set[int], late: set[int], residuals: Sequence[Place]
    ) -> Halves:
        """Puts together what was decided."""
        return Halves(
            tuple(leaving),
            self.others(leaving),
            frozenset(early),
            frozenset(late),
            tuple(residuals),
            tuple(self.types[place] for place in residuals),
        )

    def can_pass(self, places: Iterable[Place]) -> bool:
        """Tells whether all values at `places` are tensors, which fragments can hand on."""
        return all(isinstance(self.types[place], ir.RankedTensorType) for place in places)


def _bits(type_: ir.Type) -> int:
    """Returns the size of a tensor; that of anything else does not matter."""
    if not isinstance(type_, ir.RankedTensorType):
        return 1
    return max(1, math.prod(type_.shape)) * bit_width(type_.element_type)


def bit_width(element: ir.Type) -> int:
    """Returns the size of one element."""
    if isinstance(element, ir.ComplexType):
        return 2 * bit_width(element.element_type)
    if isinstance(element, ir.IntegerType | ir.FloatType):
        return element.width
    return 0
