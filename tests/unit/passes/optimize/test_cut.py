"""The cheapest set of values to keep, against trying out every set."""

import random
from itertools import chain, combinations

import pytest

from mpmd.passes.optimize._cut import cheapest_cut


def test_keeps_what_cannot_be_computed():
    assert cheapest_cut("b", {}, {"b": 3}) == {"b"}


def test_keeps_the_smaller_of_a_chain():
    operands = {"b": ["a"], "c": ["b"]}
    assert cheapest_cut("c", operands, {"a": 4, "b": 1, "c": 4}) == {"b"}


def test_computes_as_little_as_possible_for_the_same_cost():
    operands = {"b": ["a"], "c": ["b"]}
    assert cheapest_cut("c", operands, {"a": 2, "b": 2, "c": 2}) == {"c"}


def test_keeps_nothing_for_what_is_made_from_nothing():
    assert cheapest_cut("b", {"a": [], "b": ["a"]}, {"a": 1, "b": 1}) == set()


def test_one_source_serves_several():
    operands = {"b": ["a"], "c": ["a"]}
    assert cheapest_cut("bc", operands, {"a": 3, "b": 2, "c": 2}) == {"a"}


@pytest.mark.parametrize("seed", range(50))
def test_against_all_sets(seed):
    random_ = random.Random(seed)
    values = range(random_.randint(1, 8))
    costs = {value: random_.randint(0, 5) for value in values}
    operands = {
        value: random_.sample(range(value), random_.randint(0, min(value, 3)))
        for value in values
        if random_.random() < 0.7
    }
    wanted = random_.sample(values, random_.randint(1, len(values)))

    def suffices(kept):
        have = set(kept)
        for value in values:
            if value in operands and have.issuperset(operands[value]):
                have.add(value)
        return have.issuperset(wanted)

    sets = chain.from_iterable(combinations(values, n) for n in range(len(values) + 1))
    least = min(sum(costs[value] for value in kept) for kept in sets if suffices(kept))
    kept = cheapest_cut(wanted, operands, costs)
    assert suffices(kept)
    assert sum(costs[value] for value in kept) == least
