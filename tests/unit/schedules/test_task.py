import pytest

from mpmd.schedules.task import Kind, Task


@pytest.mark.parametrize("text", ["2F7", "0B3", "1Bi4", "1Bw4", "12F345"])
def test_text_parses_back(text):
    assert str(Task.parse(text)) == text


def test_parse_reads_stage_kind_and_microbatch():
    assert Task.parse("1Bi4") == Task(1, Kind.Bi, 4)


@pytest.mark.parametrize("text", ["", "F1", "1F", "1X2", "1Bx2", "-1F2", "1F2 3", "1f2"])
def test_parse_refuses_what_is_no_task(text):
    with pytest.raises(ValueError, match="is no task"):
        Task.parse(text)


def test_negative_numbers_are_refused():
    with pytest.raises(ValueError, match="stage -1 and microbatch 0"):
        Task(-1, Kind.F, 0)
