import pytest

from mpmd.schedules import Costs, auto, build, check, simulate
from mpmd.schedules.registry import FAMILIES


@pytest.mark.parametrize(
    "costs",
    [
        Costs(),
        Costs(forward_transfer=0.5, backward_transfer=0.5),
        Costs(forward=[1, 1, 1, 3], input_gradient=[1, 1, 1, 3], weight_gradient=[1, 1, 1, 3]),
        Costs(forward=[2, 1, 1, 1], weight_gradient=0.2),
    ],
    ids=["equal", "transfers", "heavy last stage", "light weights"],
)
def test_no_family_is_faster(costs):
    best = simulate(auto(4, 12, costs=costs), costs).step_time
    for name, family in FAMILIES.items():
        if family.stages_per_mesh == 1:
            assert best <= simulate(build(name, 4, 12), costs).step_time + 1e-9


@pytest.mark.parametrize("limit", [2, 3, 4, 7])
def test_memory_limit_is_kept(limit):
    timeline = simulate(auto(4, 12, memory_limit=limit))
    assert timeline.peak_memory.max() <= limit


def test_less_memory_is_never_faster():
    times = [simulate(auto(4, 12, memory_limit=k)).step_time for k in (7, 4, 2, 1)]
    assert times == sorted(times)


def test_weights_count():
    costs = Costs(weights=10)
    assert simulate(auto(3, 6, costs=costs, memory_limit=12), costs).peak_memory.max() <= 12


def test_nothing_fits():
    with pytest.raises(ValueError, match=r"6 microbatches on 3 meshes fits into memory of 0\.5"):
        auto(3, 6, memory_limit=0.5)


def test_placement_is_kept():
    schedule = auto(2, 5, 2, placement=[0, 1, 1, 0])
    check(schedule)
    assert schedule.placement[:, 0].tolist() == [0, 1, 1, 0]


def test_whole_backwards_where_they_cannot_be_split():
    schedule = auto(4, 8, split_backward=False)
    assert not schedule.splits_backward
    check(schedule)


def test_uneven_stages_get_a_schedule_of_their_own():
    costs = Costs(forward=[1, 1, 1, 3], input_gradient=[1, 1, 1, 3], weight_gradient=[1, 1, 1, 3])
    assert simulate(auto(4, 12, costs=costs), costs).bubble[3] == pytest.approx(0)


def test_of_equally_fast_schedules_the_one_with_less_memory_is_taken():
    times = Costs(1.0, 1.1, 0.9)  # sums of these differ in the last digit
    found = simulate(auto(4, 16, costs=times), times)
    assert found.step_time == pytest.approx(48)
    assert found.peak_memory.max() == 10
