"""Every schedule on programs of many sizes: the order on each mesh is that of the schedule."""

import random

import pytest

from mpmd.dialect._jaxlib import ir, make_context
from mpmd.dialect.functions import entry_block
from mpmd.passes.optimize._scheduling_units import scheduling_units
from mpmd.passes.optimize.pipeline_scheduler import PipelineScheduler, order_option
from mpmd.passes.runner import run_passes
from mpmd.schedules import build
from mpmd.schedules.registry import FAMILIES
from mpmd.schedules.task import Kind, Task

MARKS = {Kind.Bi: ", split_keep_transferred", Kind.Bw: ", split_drop_transferred"}


def program(schedule, split, shuffle):
    """Writes a pipeline with the placement of `schedule`, microbatch by microbatch or mixed up."""
    stages, microbatches = schedule.num_stages, schedule.num_microbatches
    kinds = [Kind.Bi, Kind.Bw] if split else [Kind.B]
    tasks = [Task(s, Kind.F, 0) for s in range(stages)]
    tasks += [Task(s, kind, 0) for s in reversed(range(stages)) for kind in kinds]
    todo = {i: list(tasks) for i in range(microbatches)}
    lines, latest = [], dict.fromkeys(todo, ("%a0", 0))
    while todo:
        i = shuffle.choice(list(todo)) if shuffle else next(iter(todo))
        task = todo[i].pop(0)
        if not todo[i]:
            del todo[i]
        lines += fragment(schedule, task, i, latest)
    meshes = range(schedule.num_meshes)
    topology = ", ".join(f'<"m{k}" : <["x"=1]>>' for k in meshes)
    arguments = ", ".join(f"%a{k}: {mesh_tensor(k)}" for k in meshes)
    attributes = f"attributes {{topology = #mpmd.topology<{topology}>}}"
    head = f"func.func @main({arguments}) -> {mesh_tensor(0)} {attributes} {{"
    return "\n".join([head, *lines, f"return %a0 : {mesh_tensor(0)}", "}"])


def fragment(schedule, task, microbatch, latest):
    mesh = int(schedule.placement[task.stage, microbatch])
    value, where = latest[microbatch]
    name = f"%s{task.stage}{task.kind.name}{microbatch}"
    lines = []
    if where != mesh:
        lines.append(
            f"{name}t = mpmd.transfer {value} : ({mesh_tensor(where)}) -> {mesh_tensor(mesh)}"
        )
        value = f"{name}t"
    transposed = "" if task.kind is Kind.F else "(1)"
    lines.append(
        f'{name} = mpmd.fragment<mesh="m{mesh}", origin=["s"{transposed}], stage={task.stage}> '
        f"({value}) {{call_counter = {microbatch} : ui32{MARKS.get(task.kind, '')}}} "
        f"(%x: tensor<f32>) {{ mpmd.return %x : tensor<f32> }} : "
        f"({mesh_tensor(mesh)}) -> {mesh_tensor(mesh)}"
    )
    if task.kind is not Kind.Bw:
        latest[microbatch] = (name, mesh)
    return lines


def mesh_tensor(mesh):
    return f'!mpmd.mesh_tensor<"m{mesh}", tensor<f32>>'


def scheduled(text, order):
    with make_context() as context, ir.Location.unknown():
        module = ir.Module.parse(text, context)
        run_passes(module.operation, [PipelineScheduler(must_happen_before=order)])
        assert module.operation.verify()
        ops = [op.operation for op in entry_block(module.body.operations[0].operation).operations]
        rows = {}
        for unit in scheduling_units(ops):
            task = Task(unit.stage, unit.kind, unit.microbatch)
            rows.setdefault(unit.mesh, []).append(task)
        return [rows[mesh] for mesh in sorted(rows)]


def as_in_program(tasks, split):
    """Returns the tasks as the program has them, which splits all backwards or none."""
    for task in tasks:
        if split and task.kind is Kind.B:
            yield from (Task(task.stage, kind, task.microbatch) for kind in (Kind.Bi, Kind.Bw))
        elif not split and task.kind is Kind.Bi:
            yield Task(task.stage, Kind.B, task.microbatch)
        elif split or task.kind is not Kind.Bw:
            yield task


@pytest.mark.parametrize("split", [False, True], ids=["whole", "split"])
@pytest.mark.parametrize("name", FAMILIES)
def test_order_is_the_schedules(name, split):
    draw = random.Random(name)
    stages = FAMILIES[name].stages_per_mesh
    for p, m, v in [(1, 3, 1), (2, 1, 2), (2, 5, 2), (3, 4, 3), (4, 6, 1)]:
        v = v if stages is None else stages
        if name.startswith("Parallel"):
            v = 1
        schedule = build(name, p, m, v)
        expected = [list(as_in_program(row, split)) for row in schedule]
        for shuffle in (None, draw):
            text = program(schedule, split, shuffle)
            assert scheduled(text, f"builtin:{name}") == expected


def test_a_schedule_of_the_users_is_followed():
    schedule = build("1F1B", 2, 3)
    text = program(schedule, False, random.Random(1))
    assert scheduled(text, order_option(schedule)) == list(schedule)


def test_order_option_of_a_name():
    assert order_option("none") == "builtin:None"
    with pytest.raises(ValueError, match="no schedule '2F2B'"):
        order_option("2F2B")


def test_call_counters_need_not_start_at_zero():
    schedule = build("GPipe", 2, 3)
    text = program(schedule, False, None).replace("call_counter = ", "call_counter = 70000000")
    order = [[str(t.kind) for t in row] for row in scheduled(text, "builtin:GPipe")]
    assert order == [["F"] * 3 + ["B"] * 3] * 2


def test_auto_finds_an_order_for_the_programs_own_placement():
    schedule = build("ZBV", 2, 4)
    rows = scheduled(program(schedule, True, None), "builtin:Auto")
    assert [len(row) for row in rows] == [len(row) for row in schedule]


@pytest.mark.parametrize("order", ["1F1B", "builtin:nope", "table:", "table:0B0 0F0", "table:x"])
def test_bad_orders_are_refused_when_options_are_read(order):
    from mpmd.passes.base import OptionError

    with pytest.raises(OptionError, match="must-happen-before"):
        PipelineScheduler.parse({"must-happen-before": order})
