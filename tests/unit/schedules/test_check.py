import pytest

from mpmd.schedules.check import ScheduleError, check
from mpmd.schedules.schedule import Schedule

GOOD = "mesh 0: 0F0 0F1 0B0 0B1\nmesh 1: 1F0 1B0 1F1 1B1"


def error_of(text, placement=None):
    rows = [line.partition(":")[2].split() for line in text.splitlines()]
    with pytest.raises(ScheduleError) as caught:
        check(Schedule.from_table(rows, placement=placement))
    return str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        "mesh 0: 0F0 0F1",
        "mesh 0: 0F0 0Bi0 0Bw0 0F1 0B1",
        "mesh 0: 0F0 0Bi0\nmesh 1: 1F0 1Bi0 1Bw0",
        "mesh 0: 0F0\nmesh 1:",
    ],
)
def test_accepts(text):
    check(Schedule.parse(text))


def test_a_task_scheduled_twice():
    assert error_of(GOOD.replace("0F1 0B0", "0F1 0F0 0B0")) == (
        "0F0 is scheduled 2 times, on mesh 0 and mesh 0\nmesh 0 | >0F0< 0F1   >0F0< 0B0   0B1"
    )


def test_a_missing_forward_is_shown_where_it_would_be():
    assert error_of(GOOD.replace("1F0 1B0 1F1", "1F0 1B0")) == (
        "1F1 is missing on mesh 1\nmesh 1 | 1F0    >1F1?< 1B0    1B1"
    )


def test_a_missing_first_microbatch():
    assert "mesh 0 | >0B0?< " in error_of(GOOD.replace("0B0 ", ""))


def test_a_stage_without_a_backward():
    message = error_of("mesh 0: 0F0 0F1\nmesh 1: 1F0 1B0 1F1 1B1")
    assert message.startswith("0B0 is missing on mesh 0 (2 tasks of this kind are missing)\n")


def test_a_missing_half_of_a_split_backward():
    assert "0Bw1 is missing" in error_of("mesh 0: 0F0 0F1 0Bi0 0Bi1 0Bw0")
    assert "0Bi1 is missing" in error_of("mesh 0: 0F0 0F1 0Bi0 0Bw0 0Bw1")


def test_whole_and_split_backward_of_one_microbatch():
    message = error_of("mesh 0: 0F0 0B0 0Bi0 0Bw0")
    assert message.startswith("0B0 is the whole backward and 0Bi0 a part of it")
    assert ">0B0<" in message and ">0Bi0<" in message


def test_a_task_on_the_wrong_mesh():
    message = error_of("mesh 0: 0F0 1F0\nmesh 1: 0F1 1F1", placement=[0, 1])
    assert message.startswith("1F0 is scheduled on mesh 0, but stage 1 is placed on mesh 1\n")
    assert message.endswith("mesh 0 | 0F0   >1F0<")


def test_a_placement_on_a_mesh_that_does_not_exist():
    assert "placed on mesh 7" in error_of("mesh 0: 0F0 1F0", placement=[0, 7])


def test_a_cycle_across_meshes_names_and_marks_its_tasks():
    assert error_of("mesh 0: 0F0 0B0 0F1 0B1\nmesh 1: 1F0 1F1 1B0 1B1") == (
        "the order is cyclic: 0B0 on mesh 0 waits for 1B0, which mesh 1 runs after 1F1; "
        "1F1 on mesh 1 waits for 0F1, which mesh 0 runs after 0B0\n"
        "mesh 0 | 0F0   >0B0< >0F1< 0B1\n"
        "mesh 1 | 1F0   >1F1< >1B0< 1B1"
    )


def test_a_cycle_within_a_mesh():
    message = error_of("mesh 0: 0F0 0Bw0 0Bi0")
    assert message.startswith(
        "the order is cyclic: 0Bw0 on mesh 0 waits for 0Bi0, which mesh 0 runs after 0Bw0\n"
    )


def test_only_the_neighbourhood_of_a_mistake_is_shown():
    row = [f"0F{i}" for i in range(40)] + ["0F20"]
    assert "... " in error_of("mesh 0: " + " ".join(row))
    assert len(error_of("mesh 0: " + " ".join(row)).splitlines()) == 2
