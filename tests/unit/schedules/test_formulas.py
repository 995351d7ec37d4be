"""The published bubbles and memories of the schedules, for generator and simulator at once."""

import pytest

from mpmd.schedules.costs import Costs
from mpmd.schedules.gpipe import gpipe
from mpmd.schedules.interleaved import interleaved_one_f_one_b, interleaved_zero_bubble
from mpmd.schedules.one_f_one_b import one_f_one_b
from mpmd.schedules.simulate import simulate
from mpmd.schedules.v_shaped import dual_pipe_v, zero_bubble_v
from mpmd.schedules.zero_bubble import (
    zero_bubble_h1,
    zero_bubble_h2_full_latency,
    zero_bubble_h2_half_latency,
    zero_bubble_h2_zero_latency,
)

TIMES = [(1, 1, 1), (2, 3, 1), (1, 1.5, 0.5)]  # F, Bi, Bw
SIZES = [(1, 1), (1, 4), (2, 4), (3, 9), (4, 8), (5, 13), (8, 17)]


def bubbles(schedule, times, **more):
    return list(simulate(schedule, Costs(*times, **more)).bubble)


@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize(("p", "m"), [*SIZES, (4, 1), (4, 3), (8, 2)])
@pytest.mark.parametrize("make", [gpipe, one_f_one_b])
def test_gpipe_and_1f1b_bubble(make, p, m, times):
    assert bubbles(make(p, m), times) == pytest.approx([(p - 1) * sum(times)] * p)


@pytest.mark.parametrize(("p", "m"), [*SIZES, (4, 1), (4, 3), (8, 2)])
def test_gpipe_and_1f1b_memory(p, m):
    assert simulate(gpipe(p, m)).peak_memory.tolist() == [m] * p
    expected = [min(p - s, m) for s in range(p)]
    assert simulate(one_f_one_b(p, m)).peak_memory.tolist() == expected


@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize(("p", "m", "v"), [(2, 4, 2), (4, 8, 2), (4, 12, 3), (3, 3, 4)])
def test_interleaved_1f1b(p, m, v, times):
    schedule = interleaved_one_f_one_b(p, m, v)
    of_a_stage = [time / v for time in times]
    assert bubbles(schedule, of_a_stage) == pytest.approx([(p - 1) * sum(times) / v] * p)
    memory = simulate(schedule, Costs(activations=1 / v)).peak_memory
    assert memory[0] == pytest.approx(min(p * (1 + (p - 1) / (p * v)), m))
    assert memory[0] == memory.max()


@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize(("p", "m", "v"), [(2, 4, 2), (4, 8, 2), (4, 12, 3), (3, 6, 1)])
def test_interleaved_zero_bubble(p, m, v, times):
    forward, inputs, weights = times
    of_a_stage = [time / v for time in times]
    expected = (p - 1) * (forward + inputs - weights) / v
    assert max(bubbles(interleaved_zero_bubble(p, m, v), of_a_stage)) <= expected + 1e-9


@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize(("p", "m"), SIZES)
def test_zero_bubble_h1(p, m, times):
    forward, inputs, weights = times
    schedule = zero_bubble_h1(p, m)
    assert bubbles(schedule, times) == pytest.approx([(p - 1) * (forward + inputs - weights)] * p)
    assert simulate(schedule).peak_memory.max() <= p


@pytest.mark.parametrize(("p", "m"), [(1, 1), (2, 3), (3, 9), (4, 8), (5, 13), (8, 17)])
def test_zero_bubble_h2(p, m):
    schedule = zero_bubble_h2_zero_latency(p, m)
    assert bubbles(schedule, (1, 1, 1)) == [0] * p
    assert simulate(schedule).peak_memory.max() <= 2 * p - 1
    for forward, inputs, weights in TIMES:
        expected = (p - 1) * (forward + inputs - 2 * weights)
        assert bubbles(schedule, (forward, inputs, weights)) == pytest.approx([expected] * p)


@pytest.mark.parametrize(
    ("make", "latency"), [(zero_bubble_h2_half_latency, 0.5), (zero_bubble_h2_full_latency, 1.0)]
)
@pytest.mark.parametrize("p", [1, 2, 3, 5])
def test_zero_bubble_h2_hides_transfers(make, latency, p):
    transfers = {"forward_transfer": latency, "backward_transfer": latency}
    assert bubbles(make(p, 6 * p), (1, 1, 1), **transfers) == [0] * p
    if p > 1:
        assert max(bubbles(zero_bubble_h2_zero_latency(p, 6 * p), (1, 1, 1), **transfers)) > 0


@pytest.mark.parametrize(("p", "m"), [(1, 2), (2, 4), (3, 7), (4, 8), (5, 13), (8, 17)])
def test_zero_bubble_v(p, m):
    schedule = zero_bubble_v(p, m)
    assert bubbles(schedule, (1, 1, 1)) == [0] * p
    assert simulate(schedule, Costs(activations=0.5)).peak_memory.max() <= p


@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize("gain", [1.0, 0.8])
@pytest.mark.parametrize(("p", "m"), [(2, 4), (3, 7), (4, 12), (6, 12)])
def test_dual_pipe_v(p, m, gain, times):
    """With p meshes the schedule has 2p stage halves, so p/2 - 1 of the formula is p - 1 here."""
    _, inputs, weights = times
    overlapped = gain * sum(times)
    schedule = dual_pipe_v(p, m)
    expected = (p - 1) * (overlapped + inputs + weights - 3 * weights)
    assert max(bubbles(schedule, times, overlapped=overlapped)) == pytest.approx(expected)
    memory = simulate(schedule, Costs(activations=0.5)).peak_memory
    assert memory.max() == p + 0.5  # of whole meshes: 2p + 1 stage halves
