"""Predicates: any relation among few items, an order of keys among many, and what is neither."""

import random

import pytest

from mpmd.schedules.happens_before import ALL_PAIRS, PredicateError, chains

MANY = 4 * ALL_PAIRS


def asked(before):
    """The same predicate, and a list that gets an element each time it is asked."""
    calls = []

    def counted(one, two):
        calls.append(None)
        return before(one, two)

    return counted, calls


@pytest.mark.parametrize("count", [ALL_PAIRS, MANY])
def test_keys_give_one_chain_with_ties_together(count):
    items = list(range(count))
    random.Random(0).shuffle(items)
    found = chains(items, lambda a, b: a // 3 < b // 3)
    assert len(found) == 1
    keys = [{items[index] // 3 for index in group} for group in found[0]]
    assert keys == [{key} for key in range((count + 2) // 3)]
    assert sorted(index for group in found[0] for index in group) == list(range(count))


def test_many_items_are_not_asked_about_in_all_pairs():
    before, calls = asked(lambda a, b: a < b)
    chains(list(range(MANY)), before)
    assert len(calls) < MANY * 60 < MANY * MANY / 2


def test_few_items_may_have_any_relation():
    assert chains("abcd", lambda x, y: x + y in ("ca", "bd")) == [[[1], [3]], [[2], [0]]]
    assert chains("abcd", lambda x, y: False) == [[[0, 1, 2, 3]]]
    assert chains("", lambda x, y: True) == [[]]
    assert chains("a", lambda x, y: True) == [[[0]]]


@pytest.mark.parametrize("count", [2, MANY])
def test_both_ways_is_an_error(count):
    with pytest.raises(PredicateError, match=r"0.*1"):
        chains(list(range(count)), lambda a, b: True)


def circular(a, b):
    return (b - a) % MANY < MANY / 2 and a != b


def neighbours(a, b):
    return b == a + 1


def sparse_pipeline(a, b):
    """Forwards are even, backwards odd; both in order, and a backward 4 forwards later."""
    return (a % 2 == b % 2 and b == a + 2) or (a % 2 == 0 and b == a - 7)


@pytest.mark.parametrize("before", [circular, neighbours, sparse_pipeline])
def test_what_is_no_order_is_an_error_among_many(before):
    items = list(range(MANY))
    random.Random(1).shuffle(items)
    with pytest.raises(PredicateError, match=r"it is no order: .* of keys"):
        chains(items, before)


def test_an_error_inside_names_the_items():
    with pytest.raises(ZeroDivisionError) as caught:
        chains([1, 0], lambda a, b: 1 / a < 1 / b)
    assert caught.value.__notes__ == ["while the pipeline schedule compared 1 with 0"]
