"""Plans and streams are data: what waits for what, and what is freed when."""

import random

import pytest

from mpmd.dialect import ifrt
from mpmd.runtime.plan import Copy, Run, make_plan
from mpmd.runtime.reshard import plan_reshard
from mpmd.runtime.streams import Copies, Delete, Free, Signal, Wait, make_streams
from tests.unit.runtime.programs import ProgramText, affine, array, on_first
from tests.unit.runtime.test_run import pipeline

M0, M1 = (0, 1), (2, 3)


def plan_of(text):
    return make_plan(ifrt.read_program(text))


def lane(device):
    return device // 2


def test_a_pipeline():
    streams = make_streams(plan_of(pipeline(donated=True)), lane)
    assert streams.num_edges == 1
    first, second = streams.streams
    assert [type(op) for op in first.operations] == [Run, Delete, Free, Copies, Signal, Free]
    assert [type(op) for op in second.operations] == [Wait, Run, Free]
    assert first.operations[1] == Delete((0,))
    assert first.operations[2] == Free((0,))


def test_one_lane_needs_no_signals():
    streams = make_streams(plan_of(pipeline()), lambda device: "all")
    assert streams.num_edges == 0
    (stream,) = streams.streams
    assert [type(op) for op in stream.operations] == [Run, Free, Copies, Free, Run, Free]


def test_transfers_start_right_after_their_source_and_together():
    """Written last, as a compiler that thinks of the receiver does; two results cross at once."""
    program = ProgramText()
    value = program.argument(on_first("8xf32", M0))
    callee = program.module("f", affine("8xf32", 2.0))
    first = program.call(callee, [value], [value.type], M0)
    second = program.call(callee, first, [value.type], M0)
    third = program.call(callee, second, [value.type], M0)
    moved = program.copy([*first, *second], [on_first("8xf32", M1)] * 2)
    steps = plan_of(program.text(*moved, *third)).steps
    assert [type(step) for step in steps] == [Run, Copy, Run, Copy, Run]


def test_transfers_of_arguments_are_one_call_and_one_signal():
    program = ProgramText()
    values = [program.argument(on_first("8xf32", M0)) for _ in range(4)]
    callee = program.module("f", affine("8xf32", 2.0))
    moved = program.copy(values, [on_first("8xf32", M1)] * 4)
    outputs = [program.call(callee, [m], [m.type], M1)[0] for m in moved]
    streams = make_streams(plan_of(program.text(*outputs)), lane)
    assert streams.num_edges == 1
    first, second = streams.streams
    assert [type(op) for op in first.operations] == [Copies, Signal, Free]
    assert len(first.operations[0].copies) == 4
    assert [type(op) for op in second.operations].count(Wait) == 1


def test_a_late_reshard_does_not_hold_up_its_receiver():
    """The program on the receiving side runs when its result is needed, not when data arrives."""
    program = ProgramText()
    source = program.argument(array("8x8xf32", M0, "2x1 to [0] on 2"))
    busy = program.argument(array("8x8xf32", [2, 3, 4, 5], "4x1 to [0] on 4"))
    callee = program.module("f", affine("8x8xf32", 2.0))
    (wide,) = program.reshard([source], [busy.type])
    (other,) = program.call(callee, [busy], [busy.type], [2, 3, 4, 5])
    (used,) = program.call(callee, [wide], [wide.type], [2, 3, 4, 5])
    plan = plan_of(program.text(other, used))
    names = [
        plan.fragments[step.fragment].module.name if isinstance(step, Run) else "copy"
        for step in plan.steps
    ]
    assert names == ["copy", "f", "mpmd.reshard", "f"]


@pytest.mark.parametrize(
    ("source", "target", "layouts"),
    [
        # Cut further before sending, or put together after: never whole copies where shards do.
        (("1x1 to [0] on 2", 2), ("2x1 to [0] on 2", 2), ["1x1", "2x1", "2x1", "2x1"]),
        (("2x1 to [0] on 2", 2), ("1x1 to [0] on 2", 2), ["2x1", "2x1", "2x1", "1x1"]),
        (("1x2 to [0] on 2", 2), ("2x1 to [0] on 2", 2), ["1x2", "2x1", "2x1", "2x1"]),
        (("4x1 to [0] on 4", 4), ("2x1 to [0] on 2", 2), ["4x1", "2x1", "2x1", "2x1"]),
        (("2x1 to [0] on 2", 2), ("4x1 to [0] on 4", 4), ["2x1", "2x1", "2x1", "4x1"]),
        (("3x1 to [0] on 3", 3), ("2x1 to [0] on 2", 2), ["3x1", "1x1", "1x1", "2x1"]),
        (("1x1 to [0] on 4", 4), ("1x1 to [0] on 2", 2), ["1x1", "1x1", "1x1", "1x1"]),
    ],
)
def test_resharding_plans(source, target, layouts):
    first = array("12x12xf32", range(source[1]), source[0])
    second = array("12x12xf32", range(10, 10 + target[1]), target[0])
    plan = plan_reshard(ifrt.ArrayType.parse(first), ifrt.ArrayType.parse(second))
    chain = (plan.source, plan.sent, plan.received, plan.target)
    assert ["x".join(map(str, end.sharding.dim_shards)) for end in chain] == layouts
    sent, received = (end.sharding.shard_of_device() for end in (plan.sent, plan.received))
    assert [sent[pick] for pick in plan.picks] == received


def test_donated_arguments_that_are_returned_move_nothing():
    program = ProgramText()
    values = [program.argument(on_first("8xf32", M0), donated=True) for _ in range(3)]
    plan = plan_of(program.text(*values))
    (step,) = plan.steps
    assert step.inputs == (0, 1, 2)
    assert plan.fragments[step.fragment].module.text.count("tf.aliasing_output") == 3


def random_program(rng):
    meshes = [(0, 1), (2, 3), (4, 5), (6, 7)]
    program = ProgramText()
    callee = program.module("f", affine("8xf32", 2.0))
    values = [
        (program.argument(on_first("8xf32", mesh), donated=rng.random() < 0.5), mesh)
        for mesh in meshes
    ]
    for _ in range(rng.randrange(5, 40)):
        value, mesh = rng.choice(values)
        target = rng.choice(meshes)
        if target != mesh:
            (value,) = program.copy([value], [on_first("8xf32", target)])
        (value,) = program.call(callee, [value], [value.type], target)
        values.append((value, target))
    return program.text(*(value for value, _ in rng.sample(values, 3)))


@pytest.mark.parametrize("seed", range(20))
def test_streams_of_random_programs(seed):
    """Replays streams in random interleavings: nothing is read before it exists or after it is
    freed, all lanes finish, and in the end the results and nothing else are alive."""
    rng = random.Random(seed)
    plan = plan_of(random_program(rng))
    streams = make_streams(plan, rng.choice([lane, lambda device: device // 4, lambda device: 0]))
    alive = set(range(plan.num_arguments))
    signalled, deleted = set(), set()
    at = [0] * len(streams.streams)
    while True:
        ready = [
            number
            for number, stream in enumerate(streams.streams)
            if at[number] < len(stream.operations)
            and not (
                isinstance(op := stream.operations[at[number]], Wait) and op.edge not in signalled
            )
        ]
        if not ready:
            break
        number = rng.choice(ready)
        op = streams.streams[number].operations[at[number]]
        at[number] += 1
        if isinstance(op, Run):
            assert alive >= set(op.inputs)
            alive |= set(op.outputs)
        elif isinstance(op, Copies):
            assert alive >= {copy.input for copy in op.copies}
            alive |= {copy.output for copy in op.copies}
        elif isinstance(op, Signal):
            signalled.add(op.edge)
        elif isinstance(op, Free):
            assert alive >= set(op.values)
            alive -= set(op.values)
        elif isinstance(op, Delete):
            assert alive >= set(op.values)
            deleted |= set(op.values)
    assert at == [len(stream.operations) for stream in streams.streams]
    arguments = set(range(plan.num_arguments))
    assert alive - arguments == set(plan.results)
    assert signalled == set(range(streams.num_edges))
    assert deleted == {value for value in arguments if plan.donated[value]}
