"""Reports: the text, the drawing, and the same numbers for a program as for its schedule."""

import random
import xml.etree.ElementTree as ElementTree

import pytest

from mpmd.schedules import Costs, Schedule, build, report, simulate
from mpmd.schedules.dependencies import slots
from mpmd.schedules.program import Piece, report_on_program
from mpmd.schedules.registry import FAMILIES
from mpmd.schedules.task import Kind

F, B = Kind.F, Kind.B

TEXT = """\
1F1B: 2 stages on 2 meshes, 2 microbatches

mesh 0 | 0F0 0F1 .   .   0B0 -   .   0B1 -
mesh 1 | .   1F0 1B0 -   1F1 1B1 -   .   .

step time      9
bubble         33.3%, per mesh 3
peak memory    2, per mesh 2 1
critical path  0F0 1F0 1B0 1F1 1B1 0B1"""


def test_text():
    assert str(report(simulate(build("1F1B", 2, 2)))) == TEXT


def test_other_costs():
    first = report(simulate(build("GPipe", 2, 3)), ["left", "right"])
    again = first.with_costs(Costs(forward=2.0))
    assert (first.step_time, again.step_time) == (12, 16)
    assert again.meshes == ("left", "right")
    assert again.grid().startswith("left  | 0F0 0F1")


def test_a_large_report_is_cut():
    text = str(report(simulate(build("1F1B", 70, 40))))
    assert "... and 6 more meshes" in text
    assert max(map(len, text.splitlines())) < 800
    assert " more ... " in text and "per mesh 1 to 40" in text


def test_a_drawing_has_its_limits(tmp_path):
    with pytest.raises(ValueError, match="204800 tasks are too many for a drawing"):
        report(simulate(build("1F1B", 100, 1024))).to_svg(tmp_path / "large.svg")


def test_svg(tmp_path):
    made = report(simulate(build("ZBV", 2, 3)), ["a<b", "c"])
    path = tmp_path / "schedule.svg"
    made.to_svg(path)
    root = ElementTree.parse(path).getroot()
    space = "{http://www.w3.org/2000/svg}"
    titles = [title.text for title in root.iter(f"{space}title")]
    assert titles[0] == made.title
    assert {title.split(":")[0] for title in titles[1:]} == {box.text for box in made.boxes}
    assert len(titles) == 1 + len(made.boxes)
    framed = [r for r in root.iter(f"{space}rect") if r.get("stroke") == "#d93025"]
    assert len(framed) == len(made.critical_path)
    assert "a<b" in [text.text for text in root.iter(f"{space}text")]


def as_program(schedule, shuffle):
    """The tasks as pieces, in a random order that the schedule and the data allow."""
    needed = slots(schedule)
    filler = {int(slot): position for position, slot in enumerate(needed.fills)}
    heads, index_of, pieces = [0] * schedule.num_meshes, {}, []
    while len(pieces) < len(schedule):
        mesh = shuffle.randrange(schedule.num_meshes)
        position = int(schedule.offsets[mesh]) + heads[mesh]
        if position == schedule.offsets[mesh + 1]:
            continue
        slot = int(needed.needs[position])
        need = () if slot == needed.source else (filler[slot],)
        if all(each in index_of for each in need):
            task = schedule.decode(schedule.codes[position])
            needs = tuple(index_of[each] for each in need)
            index_of[position] = len(pieces)
            pieces.append(Piece(mesh, (task.kind,), task.stage, task.microbatch, needs))
            heads[mesh] += 1
    return pieces


@pytest.mark.parametrize("name", sorted(FAMILIES))
@pytest.mark.parametrize(("p", "m"), [(1, 2), (3, 2), (3, 7)])
def test_a_program_in_the_order_of_a_schedule_gives_the_numbers_of_the_schedule(name, p, m):
    schedule = build(name, p, m, FAMILIES[name].stages_per_mesh or 2)
    stages = schedule.num_stages
    costs = Costs(
        forward=[1 + 0.5 * stage for stage in range(stages)],
        input_gradient=1.5,
        weight_gradient=0.75,
        forward_transfer=0.25,
        backward_transfer=0.5,
        activations=[3 + stage for stage in range(stages)],
        kept_for_weights=0.5,
        weights=2,
    )
    expected = report(simulate(schedule, costs))
    meshes = list(expected.meshes)
    got = report_on_program("", meshes, as_program(schedule, random.Random(p * m)), costs)
    assert got.step_time == pytest.approx(expected.step_time)
    assert got.makespan == pytest.approx(expected.makespan)
    assert got.bubble == pytest.approx(expected.bubble)
    assert got.peak_memory == pytest.approx(expected.peak_memory)
    path = got.critical_path
    assert sum(box.end - box.start for box in got.boxes if box.text in path) <= got.makespan


def test_pieces_of_one_task_share_its_cost():
    pieces = [Piece(0, (F,)), Piece(0, (F,), needs=(0,)), Piece(0, (B,), needs=(1,))]
    made = report_on_program("", ["m"], pieces)
    assert [(box.start, box.end) for box in made.boxes] == [(0, 0.5), (0.5, 1), (1, 3)]
    assert made.peak_memory == (1,)


def test_a_merged_forward_and_backward():
    made = report_on_program("", ["m"], [Piece(0, (F, B)), Piece(0, (F, B), microbatch=1)])
    assert [box.text for box in made.boxes] == ["0F0+0B0", "0F1+0B1"]
    assert (made.step_time, made.peak_memory) == (6, (1,))


def test_forwards_alone_keep_nothing():
    made = report_on_program("", ["m"], [Piece(0, (F,), microbatch=i) for i in range(4)])
    assert made.peak_memory == (1,)


def test_rematerialized_forwards_hold_memory_only_around_the_backward():
    kept = [Piece(0, (F,), microbatch=i) for i in range(3)]
    dropped = list(kept)
    for i in range(3):
        kept.append(Piece(0, (B,), microbatch=i))
        dropped.append(Piece(0, (F,), microbatch=i, is_rematerialized=True))
        dropped.append(Piece(0, (B,), microbatch=i))
    assert report_on_program("", ["m"], kept).peak_memory == (3,)
    again = report_on_program("", ["m"], dropped)
    assert (again.peak_memory, again.step_time) == ((1,), 12)
    merged = [Piece(0, (F, B), microbatch=i, is_rematerialized=True) for i in range(3)]
    merged = report_on_program("", ["m"], [*dropped[:3], *merged])
    assert (merged.peak_memory, merged.step_time) == ((1,), 12)


def test_what_is_no_task_takes_no_time_but_passes_waiting_on():
    pieces = [Piece(0, (F,)), Piece(1, needs=(0,)), Piece(1, (B,), stage=1, needs=(1,))]
    made = report_on_program("", ["a", "b"], pieces, Costs(forward_transfer=4))
    assert [(box.text, box.start) for box in made.boxes] == [("0F0", 0), ("1B0", 5)]
    assert made.critical_path == ("0F0", "1B0")


def test_an_empty_program():
    made = report_on_program("nothing", ["a"], [])
    assert (made.step_time, made.bubble_fraction, made.critical_path) == (0, 0, ())
    assert "critical path  none" in str(made)


def test_costs_that_are_for_schedules_only():
    with pytest.raises(ValueError, match="for schedules, not for programs"):
        report_on_program("", ["a"], [Piece(0, (F,))], Costs(link=lambda one, two: 0))


def test_a_table_has_a_name():
    schedule = Schedule.from_table([["0F0"]])
    assert report(simulate(schedule)).title == "table: 1 stage on 1 mesh, 1 microbatch"
