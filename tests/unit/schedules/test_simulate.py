import itertools
import random

import numpy as np
import pytest

from mpmd.schedules.check import ScheduleError
from mpmd.schedules.costs import Costs
from mpmd.schedules.gpipe import gpipe
from mpmd.schedules.interleaved import interleaved_one_f_one_b
from mpmd.schedules.one_f_one_b import one_f_one_b
from mpmd.schedules.schedule import Schedule
from mpmd.schedules.simulate import simulate
from mpmd.schedules.task import Task
from mpmd.schedules.v_shaped import dual_pipe_v
from mpmd.schedules.zero_bubble import zero_bubble_h1


def test_start_and_end_of_every_task():
    timeline = simulate(one_f_one_b(2, 2), Costs(forward=1, backward=2))
    times = {str(t): timeline.span_of(t) for row in timeline.schedule for t in row}
    assert times == {
        "0F0": (0, 1), "0F1": (1, 2), "0B0": (4, 6), "0B1": (7, 9),
        "1F0": (1, 2), "1B0": (2, 4), "1F1": (4, 5), "1B1": (5, 7),
    }  # fmt: skip


def test_transfers_delay_tasks_of_other_meshes_only():
    costs = Costs(forward_transfer=0.5, backward_transfer=0.25)
    timeline = simulate(Schedule.parse("mesh 0: 0F0 1F0 1B0 0B0\nmesh 1: 2F0 2B0"), costs)
    assert timeline.span_of(Task.parse("1F0")) == (1, 2)
    assert timeline.span_of(Task.parse("2F0")) == (2.5, 3.5)
    assert timeline.span_of(Task.parse("1B0")) == (5.75, 7.75)
    assert timeline.span_of(Task.parse("0B0")) == (7.75, 9.75)


def test_costs_per_stage():
    timeline = simulate(gpipe(2, 1), Costs(forward=[1, 3], backward=[2, 4], weights=[10, 20]))
    assert timeline.makespan == 1 + 3 + 4 + 2
    assert timeline.busy.tolist() == [3, 7]
    assert timeline.peak_memory.tolist() == [11, 21]


def test_transfers_sharing_a_link_go_one_after_the_other():
    schedule = Schedule.from_table([["0F0", "0F1", "0F2"], ["1F0", "1F1", "1F2"]])
    alone = simulate(schedule, Costs(forward_transfer=3))
    shared = simulate(schedule, Costs(forward_transfer=3, link=lambda source, target: "link"))
    assert [alone.span_of(Task.parse(f"1F{i}"))[0] for i in range(3)] == [4, 5, 6]
    assert [shared.span_of(Task.parse(f"1F{i}"))[0] for i in range(3)] == [4, 7, 10]


def test_links_serve_first_come_first_served_across_meshes():
    schedule = Schedule.from_table([["0F0", "0F1"], ["1F0", "1F1"], ["2F0", "2F1"]])
    costs = Costs(forward=[1, 1.5, 1], forward_transfer=2, link=lambda source, target: "bus")
    timeline = simulate(schedule, costs)
    starts = [timeline.span_of(Task.parse(t))[0] for t in ("1F0", "1F1", "2F0", "2F1")]
    # on the bus: 0F0 at 1, 0F1 (asked at 2) at 3, 1F0 (asked at 4.5) at 5, 1F1 (at 6.5) at 7
    assert starts == [3, 5, 7, 9]


@pytest.mark.parametrize("make", [one_f_one_b, zero_bubble_h1, dual_pipe_v])
def test_links_of_their_own_are_as_good_as_none(make):
    draw = random.Random(1)
    schedule = make(4, 7)
    costs = dict.fromkeys(("forward", "input_gradient", "weight_gradient"))
    costs = {name: [draw.uniform(1, 2) for _ in range(schedule.num_stages)] for name in costs}
    costs |= {"forward_transfer": 0.3, "backward_transfer": 0.2}
    free = simulate(schedule, Costs(**costs))
    linked = simulate(schedule, Costs(**costs, link=lambda source, target: (source, target)))
    np.testing.assert_allclose(linked.start, free.start)
    np.testing.assert_allclose(linked.end, free.end)


def test_a_free_transfer_on_a_shared_link_does_not_stall():
    costs = Costs(forward_transfer=1, backward_transfer=0, link=lambda source, target: "bus")
    assert np.isfinite(simulate(one_f_one_b(3, 4), costs).makespan)


def test_step_time_leaves_out_the_wait_at_the_start_of_late_meshes():
    timeline = simulate(Schedule.parse("mesh 0: 0F0 0F1\nmesh 1: 1F0 1F1"))
    assert timeline.makespan == 3
    assert timeline.step_time == 2
    assert timeline.bubble.tolist() == [0, 0]


def test_bubble_fraction():
    timeline = simulate(gpipe(4, 8), Costs(forward=1, backward=2))
    assert timeline.bubble_fraction == pytest.approx(9 / (24 + 9))


def test_memory_kept_between_the_halves_of_a_backward():
    schedule = Schedule.parse("mesh 0: 0F0 0Bi0 0F1 0Bi1 0Bw0 0Bw1")
    assert simulate(schedule, Costs(activations=4)).peak_memory.tolist() == [8]
    partly = Costs(activations=4, kept_for_weights=0.25)
    assert simulate(schedule, partly).peak_memory.tolist() == [5]


def test_a_mesh_that_does_nothing():
    timeline = simulate(Schedule.parse("mesh 0: 0F0\nmesh 1:"))
    assert timeline.busy.tolist() == [1, 0]
    assert timeline.peak_memory.tolist() == [1, 0]


def test_critical_path_is_a_chain_that_fills_the_makespan():
    timeline = simulate(one_f_one_b(3, 4), Costs(forward=1, backward=2))
    path = timeline.critical_path()
    spans = [timeline.span_of(task) for task in path]
    assert spans[0][0] == 0 and spans[-1][1] == timeline.makespan
    assert all(end == start for (_, end), (start, _) in itertools.pairwise(spans))


def test_critical_path_goes_through_the_slow_stage():
    path = simulate(gpipe(3, 4), Costs(forward=[1, 9, 1], backward=[2, 18, 2])).critical_path()
    assert [str(t) for t in path if t.stage == 1] == [f"1F{i}" for i in range(4)] + [
        f"1B{i}" for i in range(4)
    ]


def test_pairs_start_and_end_together_when_they_overlap():
    schedule = Schedule.parse("mesh 0: 0F0 0F1+0B0 0B1")
    timeline = simulate(schedule, Costs(forward=1, backward=2, overlapped=2.5))
    assert timeline.span_of(Task.parse("0F1")) == (1, 3.5)
    assert timeline.span_of(Task.parse("0B0")) == (1, 3.5)
    assert timeline.busy.tolist() == [5.5]
    assert simulate(schedule, Costs(forward=1, backward=2)).makespan == 6


def test_in_flight_counts_live_forwards():
    assert [simulate(one_f_one_b(3, 8)).in_flight(mesh) for mesh in range(3)] == [3, 2, 1]


def test_a_schedule_that_cannot_run_is_refused():
    with pytest.raises(ScheduleError, match="cyclic"):
        simulate(Schedule.parse("mesh 0: 0F0 0Bw0 0Bi0"))


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        (Costs(forward=-1), "forward must be finite and at least 0"),
        (Costs(weight_gradient=float("nan")), "weight_gradient must be finite"),
        (Costs(activations=[1, 2, 3]), "activations has 3 values for a schedule of 2 stages"),
        (Costs(kept_for_weights=2), "kept_for_weights is a fraction"),
    ],
)
def test_bad_costs_are_refused(costs, message):
    with pytest.raises(ValueError, match=message):
        _ = simulate(gpipe(2, 2), costs).peak_memory


def test_thousands_of_meshes():
    timeline = simulate(one_f_one_b(512, 64))
    assert timeline.step_time == 3 * (64 + 511)
    assert interleaved_one_f_one_b(256, 32, 2).num_stages == 512
