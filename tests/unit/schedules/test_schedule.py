import pytest

from mpmd.schedules.one_f_one_b import one_f_one_b
from mpmd.schedules.schedule import Schedule
from mpmd.schedules.task import Kind, Task
from mpmd.schedules.v_shaped import dual_pipe_v

TEXT = """\
schedule: 1F1B
mesh 0: 0F0 0F1 0B0 0B1
mesh 1: 1F0 1B0 1F1 1B1"""


def test_text_form_is_one_line_per_mesh():
    assert str(one_f_one_b(2, 2)) == TEXT


@pytest.mark.parametrize("schedule", [one_f_one_b(3, 5), dual_pipe_v(3, 7)], ids=repr)
def test_text_parses_back(schedule):
    assert Schedule.parse(str(schedule)) == schedule
    assert hash(Schedule.parse(str(schedule))) == hash(schedule)


def test_table_takes_tasks_and_text():
    table = [[Task(0, Kind.F, 0), "0B0"], ["1F0", "1B0"]]
    assert Schedule.from_table(table) == one_f_one_b(2, 1)


def test_table_gives_the_placement():
    schedule = Schedule.from_table([["0F0", "2F0"], ["1F0"]])
    assert schedule.placement[:, 0].tolist() == [0, 1, 0]


def test_placement_may_depend_on_the_microbatch():
    schedule = Schedule.from_table([["0F0", "1F1"], ["0F1", "1F0"]])
    assert schedule.placement.tolist() == [[0, 1], [1, 0]]


def test_tasks_decodes_one_mesh():
    assert [str(t) for t in one_f_one_b(2, 2).tasks(1)] == ["1F0", "1B0", "1F1", "1B1"]


def test_different_orders_differ():
    swapped = Schedule.parse(TEXT.replace("0F0 0F1", "0F1 0F0"))
    assert swapped != one_f_one_b(2, 2)


def test_immutable():
    schedule = one_f_one_b(2, 2)
    with pytest.raises(AttributeError, match="immutable"):
        schedule.name = "other"
    with pytest.raises(ValueError, match="read-only"):
        schedule.codes[0] = 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mesh 1: 0F0", "'mesh 0: TASK TASK ...' expected"),
        ("nonsense", "is no line of a schedule"),
        ("mesh 0: 0F0 oops", "'oops' is no task"),
        ("mesh 0:", "at least one task"),
        ("mesh 0: 1F0", "no task of stage 0"),
    ],
)
def test_parse_refuses(text, message):
    with pytest.raises(ValueError, match=message):
        Schedule.parse(text)


def test_placement_must_cover_the_stages():
    with pytest.raises(ValueError, match=r"covers 1 stages.*tasks of stage 1"):
        Schedule.from_table([["0F0", "1F0"]], placement=[0])
