"""Every family at many sizes, its published order at small ones, and the registry."""

import pytest

from mpmd.schedules import NAMES, Schedule, auto, build, check, simulate
from mpmd.schedules.registry import FAMILIES

ANY_NUMBER = [name for name, family in FAMILIES.items() if family.stages_per_mesh is None]
FIXED = [name for name in FAMILIES if name not in ANY_NUMBER]


@pytest.mark.parametrize("name", FIXED)
def test_any_number_of_meshes_and_microbatches(name):
    for p in range(1, 7):
        for m in range(1, 14):
            schedule = build(name, p, m)
            check(schedule)
            assert (schedule.num_meshes, schedule.num_microbatches) == (p, m)


@pytest.mark.parametrize("name", ANY_NUMBER)
def test_any_number_of_stages_per_mesh(name):
    for v in range(1, 4):
        for p in range(1, 6):
            for m in range(1, 10):
                schedule = build(name, p, m, v)
                check(schedule)
                assert schedule.num_stages == p * v


ORDERS = {
    ("GPipe", 2, 2, 1): "0F0 0F1 0B0 0B1 | 1F0 1F1 1B0 1B1",
    ("1F1B", 3, 4, 1): (
        "0F0 0F1 0F2 0B0 0F3 0B1 0B2 0B3 | 1F0 1F1 1B0 1F2 1B1 1F3 1B2 1B3 | "
        "2F0 2B0 2F1 2B1 2F2 2B2 2F3 2B3"
    ),
    ("1F1B", 3, 1, 1): "0F0 0B0 | 1F0 1B0 | 2F0 2B0",
    ("GPipeBut1F1BForLastMesh", 2, 2, 1): "0F0 0F1 0B0 0B1 | 1F0 1B0 1F1 1B1",
    ("Circular", 2, 3, 2): (
        "0F0 0F1 2F0 2F1 0F2 2F2 2B0 2B1 0B0 0B1 2B2 0B2 | "
        "1F0 1F1 3F0 3F1 1F2 3F2 3B0 3B1 1B0 1B1 3B2 1B2"
    ),
    ("CircularWithReversedBackward", 2, 3, 2): (
        "0F0 0F1 2F0 2F1 0F2 2F2 2B2 0B2 2B1 2B0 0B1 0B0 | "
        "1F0 1F1 3F0 3F1 1F2 3F2 3B2 1B2 3B1 3B0 1B1 1B0"
    ),
    ("ZeroBubbleH1", 2, 3, 1): (
        "0F0 0F1 0Bi0 0Bw0 0F2 0Bi1 0Bw1 0Bi2 0Bw2 | 1F0 1Bi0 1F1 1Bi1 1Bw0 1F2 1Bi2 1Bw1 1Bw2"
    ),
    ("ZeroBubbleH2ZeroTxLatency", 2, 4, 1): (
        "0F0 0F1 0F2 0Bi0 0Bw0 0F3 0Bi1 0Bw1 0Bi2 0Bw2 0Bi3 0Bw3 | "
        "1F0 1Bi0 1F1 1Bi1 1F2 1Bi2 1Bw0 1F3 1Bi3 1Bw1 1Bw2 1Bw3"
    ),
    ("ParallelPipelinesWithWrapAround", 3, 3, 1): (
        "0F0 1F2 2F1 2B1 1B2 0B0 | 0F1 1F0 2F2 2B2 1B0 0B1 | 0F2 1F1 2F0 2B0 1B1 0B2"
    ),
    ("Interleaved1F1B", 2, 4, 2): (
        "0F0 0F1 2F0 2F1 0F2 2B0 0F3 2B1 2F2 0B0 2F3 0B1 2B2 2B3 0B2 0B3 | "
        "1F0 1F1 3F0 3B0 3F1 3B1 1F2 1B0 1F3 1B1 3F2 3B2 3F3 3B3 1B2 1B3"
    ),
    ("ZBV", 2, 3, 2): (
        "0F0 0F1 0F2 3F0 3Bi0 3Bw0 3F1 3Bi1 3Bw1 0Bi0 0Bw0 3F2 3Bi2 3Bw2 0Bi1 0Bw1 0Bi2 0Bw2 | "
        "1F0 2F0 1F1 2F1 2Bi0 2Bw0 1F2 1Bi0 1Bw0 2F2 2Bi1 2Bw1 1Bi1 2Bi2 1Bi2 1Bw1 2Bw2 1Bw2"
    ),
}


@pytest.mark.parametrize("sizes", ORDERS, ids=str)
def test_order(sizes):
    rows = [row.split() for row in ORDERS[sizes].split("|")]
    schedule = build(*sizes)
    assert [[str(t) for t in row] for row in schedule] == rows
    check(Schedule.from_table(rows))


def test_wrap_around_keeps_all_meshes_busy():
    assert simulate(build("ParallelPipelinesWithWrapAround", 4, 8)).bubble.tolist() == [0] * 4


def test_circular_bubble_is_divided_by_the_stages_per_mesh():
    whole, parts = (simulate(build("Circular", 4, 8, v)) for v in (1, 3))
    assert max(whole.bubble) == 9
    assert max(parts.bubble) / 3 == 3


def test_none_keeps_the_order_of_the_program():
    assert build("None", 2, 2) is None


def test_every_name_can_be_built():
    for name in NAMES:
        schedule = build(name, 2, 3)
        assert schedule is None or schedule.name == name


def test_unknown_name():
    with pytest.raises(ValueError, match=r"no schedule '1F2B'; there are 1F1B, Auto, Circular"):
        build("1F2B", 2, 2)


def test_stages_that_do_not_fit_the_family():
    with pytest.raises(ValueError, match=r"ZBV puts 2.*12 stages for 4 meshes: Circular"):
        build("ZBV", 4, 8, 3)
    with pytest.raises(ValueError, match=r"1F1B puts 1.*8 stages for 4 meshes"):
        build("1F1B", 4, 8, 2)


@pytest.mark.parametrize("sizes", [(0, 4), (4, 0), (4, 4, 0), (-1, -1)])
@pytest.mark.parametrize("name", ["GPipe", "ZBV", "Circular", "Auto"])
def test_sizes_below_one_are_refused_with_all_numbers(name, sizes):
    with pytest.raises(ValueError, match=rf"{sizes[0]} meshes, {sizes[1]} microbatches"):
        build(name, *sizes)


def test_auto_is_named_and_runs_for_all_sizes():
    for sizes in [(1, 1, 1), (2, 3, 1), (3, 2, 2), (4, 8, 1)]:
        schedule = auto(*sizes)
        check(schedule)
        assert schedule.name == "Auto"
