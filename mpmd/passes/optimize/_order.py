"""Reorders the operations of a block under constraints, changing as little as possible."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, product

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.fragment import CALL, REGION, Fragment
from mpmd.dialect.uses import used_values
from mpmd.passes.base import PassFailure
from mpmd.passes.optimize._fragment_info import info_of


class Cycle(Exception):
    """The constraints contradict each other; `ops` wait for one another in a circle."""

    def __init__(self, ops: list[ir.Operation]) -> None:
        super().__init__("the order is cyclic")
        self.ops = ops

    def failure(self, func: ir.Operation, done: str) -> PassFailure:
        """Returns the failure to report: what could not be `done`, and the circle."""
        names = [str(info_of(fragment)) for fragment in map(Fragment.of, self.ops) if fragment]
        circle = " -> ".join([*names, *names[:1]])
        return PassFailure(
            func,
            f"Cycle detected in the program, not all fragments could be properly {done}. Each of "
            f"these has to come before the next: {circle}",
        )


class ProgramOrder:
    """The operations of a block, but its terminator, and what each has to come after.

    Operations are known by their position. What the data require is there from the start.
    """

    def __init__(self, block: ir.Block) -> None:
        *ops, self._terminator = (op.operation for op in block.operations)
        self.ops: list[ir.Operation] = ops
        self._block = block
        # A node is an operation or, past them, a barrier: it stands between what it waits for and
        # what waits for it, so that a chain of groups costs as many edges as it has members.
        self._after: list[list[int]] = [[] for _ in ops]
        # A merge may have left a value used before it is made: hence all makers first.
        makers: dict[ir.Value, int] = {
            result: position for position, op in enumerate(ops) for result in op.results
        }
        for position, op in enumerate(ops):
            for value in _used(op):
                maker = makers.get(value)
                if maker is not None:
                    self._after[maker].append(position)

    def add(self, earlier: int, later: int) -> None:
        """Requires the operation at one position to come before that at another."""
        self._after[earlier].append(later)

    def add_chain(self, groups: Iterable[Sequence[int]]) -> None:
        """Requires all operations of a group to come before all of the next group."""
        previous: Sequence[int] = ()
        for group in groups:
            if len(previous) > 1 and len(group) > 1 and not set(previous) & set(group):
                barrier = len(self._after)
                self._after.append(list(group))
                for position in previous:
                    self.add(position, barrier)
            else:  # an operation that merged out of both groups need not come before itself
                for earlier, later in product(previous, group):
                    if earlier != later:
                        self.add(earlier, later)
            previous = group

    def users(self, position: int) -> list[int]:
        """Returns what comes after the operation at a position, before any chain was added."""
        return self._after[position]

    def by_data(self) -> list[int]:
        """Returns the positions so that each comes after what it has to; raises Cycle."""
        rounds = self._rounds()
        return sorted(range(len(self.ops)), key=rounds.__getitem__)

    def sort(self) -> bool:
        """Puts the block in order; returns whether anything moved. Raises Cycle.

        The result is what one gets by going through the operations again and again, in each round
        taking those that nothing holds back any longer: an operation that must wait comes as early
        as it can without overtaking what was before it.
        """
        order = self.by_data()
        first_moved = next((i for i, position in enumerate(order) if i != position), None)
        if first_moved is None:
            return False
        for position in order[first_moved:]:
            self._block.append(self.ops[position])
        self._block.append(self._terminator)
        return True

    def _rounds(self) -> list[tuple[int, int]]:
        """Returns the round in which each operation is taken, with its position."""
        count = len(self.ops)
        waits = [0] * len(self._after)
        for node in chain.from_iterable(self._after):
            waits[node] += 1
        found = [(0, node if node < count else -1) for node in range(len(self._after))]
        ready = [node for node, number in enumerate(waits) if number == 0]
        done = 0
        while ready:
            node = ready.pop()
            done += 1
            round_, position = found[node]
            for later in self._after[node]:
                if later >= count:
                    found[later] = max(found[later], (round_, position))
                else:
                    next_round = round_ + (position > later)
                    if next_round > found[later][0]:
                        found[later] = (next_round, later)
                waits[later] -= 1
                if waits[later] == 0:
                    ready.append(later)
        if done < len(self._after):
            raise Cycle([self.ops[node] for node in self._cycle(waits) if node < count])
        return found

    def _cycle(self, waits: Sequence[int]) -> list[int]:
        """Returns a circle among the nodes that still wait."""
        before: dict[int, int] = {}
        for node, following in enumerate(self._after):
            if waits[node]:
                before.update((each, node) for each in following if waits[each])
        node = next(iter(before))
        seen: dict[int, int] = {}
        while node not in seen:
            seen[node] = len(seen)
            node = before[node]
        circle = [each for each, index in seen.items() if index >= seen[node]]
        return circle[::-1]


def _used(op: ir.Operation) -> Sequence[ir.Value]:
    """Returns the values that an operation uses, in its regions too; fragments are closed."""
    return op.operands if op.name in (REGION, CALL) else used_values(op)
