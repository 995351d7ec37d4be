from mpmd.schedules.costs import Costs
from mpmd.schedules.grid import marked_grid, order_grid, time_grid
from mpmd.schedules.one_f_one_b import one_f_one_b
from mpmd.schedules.simulate import simulate


def test_order_grid():
    assert order_grid(one_f_one_b(2, 2)) == (
        "mesh 0 | 0F0 0F1 0B0 0B1\n"
        "mesh 1 | 1F0 1B0 1F1 1B1"
    )  # fmt: skip


def test_time_grid_draws_durations_and_idle_time():
    timeline = simulate(one_f_one_b(2, 2), Costs(forward=1, backward=2))
    assert time_grid(timeline) == (
        "mesh 0 | 0F0 0F1 .   .   0B0 -   .   0B1 -\nmesh 1 | .   1F0 1B0 -   1F1 1B1 -   .   ."
    )


def test_time_grid_is_cut_at_its_width():
    grid = time_grid(simulate(one_f_one_b(2, 50)), columns=5)
    rows = [line.split("|")[1].split() for line in grid.splitlines()]
    assert [(len(row), row[-1]) for row in rows] == [(6, "..."), (6, "...")]


def test_marked_grid_shows_only_meshes_with_marks():
    grid = marked_grid(one_f_one_b(3, 2), [(1, 0)], {(2, 4): "2F9"}, around=1)
    assert grid == (
        "mesh 1 | >1F0<  1F1    ...\n"
        "mesh 2 | ...    2B1    >2F9?<"
    )  # fmt: skip
