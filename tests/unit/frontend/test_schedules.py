"""Schedules of the user's own: all forms give the order they say, mistakes show before tracing."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh

import mpmd
from mpmd.schedules import Costs, Kind, ScheduleError, build, simulate
from mpmd.schedules.registry import FAMILIES
from tests.unit.frontend.labelled import assert_same

P, M = 2, 3
INTERLEAVED = {"a": ("m0", 0), "b": ("m1", 1), "c": ("m0", 2), "d": ("m1", 3)}
SWAPPED = INTERLEAVED | {"c": ("m1", 2), "d": ("m0", 3)}
W = [np.eye(4, dtype=np.float32) * (i + 1) / 4 for i in range(4)]
X = np.linspace(-1, 1, M * 8, dtype=np.float32).reshape(M, 2, 4)


def topology(size=P):
    return {f"m{i}": Mesh(np.array(jax.devices()[i : i + 1]), ("x",)) for i in range(size)}


def config(schedule=None, labels=None, meshes=P, **options):
    labels = {"a": "m0", "b": "m1"} if labels is None else labels
    return mpmd.make_config(topology(meshes), labels, pipeline_schedule=schedule, **options)


def training_step(labels):
    def loss(w, x):
        for name, weight in zip(labels, w, strict=True):
            x = mpmd.named_computation(lambda x, w: jnp.tanh(x @ w), name=name)(x, weight)
        return jnp.sum(x**2)

    def step(w, xs):
        def body(i, carry):
            return jax.tree.map(jnp.add, carry, jax.value_and_grad(loss)(w, xs[i]))

        return mpmd.fori_loop(M, body, (jnp.zeros(()), jax.tree.map(jnp.zeros_like, w)))

    return step


def lower(schedule, labels=None):
    used = list(labels or "ab")
    return mpmd.jit(training_step(used), config(schedule, labels)).lower(W[: len(used)], X)


def order(report):
    """What each mesh runs, as text."""
    rows = [[box.text for box in report.boxes if box.mesh == m] for m in range(len(report.meshes))]
    return " | ".join(" ".join(row) for row in rows)


def wanted(name, stages_per_mesh=None):
    schedule = build(name, P, M, stages_per_mesh)
    return " | ".join(" ".join(map(str, row)) for row in schedule)


def info(label, call_counter, transpose_count=0, mesh_name=None):
    origins = [mpmd.FragmentOrigin(label, transpose_count)]
    mesh_name = mesh_name or {"a": "m0", "b": "m1"}.get(label, "m0")
    return mpmd.FragmentInfo(origins, mesh_name=mesh_name, call_counter=call_counter)


def gpipe(one, two):
    return (one.kind, one.call_counter) < (two.kind, two.call_counter)


def sparse(one, two):
    """1F1B of two meshes, said of neighbours only."""
    warm_up = 2 if one.mesh_name == "m0" else 1
    if one.kind is Kind.F and two.kind is Kind.B:
        return one.call_counter == min(two.call_counter + warm_up - 1, M - 1)
    if one.kind is Kind.B and two.kind is Kind.F:
        return two.call_counter == one.call_counter + warm_up
    return one.kind is two.kind and two.call_counter == one.call_counter + 1


RULES = [
    mpmd.FragmentScheduleRule([info("a", 0), info("a", 1), info("a", 2), info("a", 0, 1)]),
    mpmd.FragmentScheduleRule([info("b", 2), info("b", 0, 1)]),
]


@pytest.mark.parametrize(
    ("schedule", "name"),
    [
        (None, "1F1B"),
        ("GPipe", "GPipe"),
        (build("GPipe", P, M), "GPipe"),
        ([row.split() for row in wanted("1F1B").split("|")], "1F1B"),
        ({"m1": build("GPipe", P, M).tasks(1), "m0": build("GPipe", P, M).tasks(0)}, "GPipe"),
        (gpipe, "GPipe"),
        (sparse, "1F1B"),
        (RULES, "GPipe"),
    ],
    ids=["default", "name", "object", "table", "dict", "predicate", "sparse", "rules"],
)
def test_every_form_orders_the_program(schedule, name):
    lowered = lower(schedule)
    assert order(lowered.schedule) == wanted(name)
    result = lowered.compile()(W[:2], X)
    assert_same(result, jax.jit(training_step("ab"))(W[:2], X))


def test_none_keeps_the_order_of_the_program():
    one_after_the_other = " ".join(f"0F{i} 0B{i}" for i in range(M))
    assert order(lower("None").schedule).startswith(one_after_the_other)


def test_several_stages_on_a_mesh():
    lowered = lower("Interleaved1F1B", INTERLEAVED)
    assert order(lowered.schedule) == wanted("Interleaved1F1B", 2)


# One places stages elsewhere for each microbatch, which labels cannot; the other runs backwards
# from the last microbatch on, while this program adds up gradients from the first one on.
OTHERS = {"ParallelPipelinesWithWrapAround", "CircularWithReversedBackward"}


@pytest.mark.parametrize("name", sorted(set(FAMILIES) - OTHERS))
def test_every_family_in_order_and_memory(name):
    per_mesh = FAMILIES[name].stages_per_mesh or 2
    schedule = build(name, P, M, per_mesh)
    placement = schedule.placement[:, 0].tolist()
    labels = {f"s{stage}": (f"m{mesh}", stage) for stage, mesh in enumerate(placement)}
    report = lower(name, labels).schedule
    expected = " | ".join(" ".join(map(str, row)) for row in schedule)
    if schedule.splits_backward:
        # A whole backward between halves is both of them. Stage 0 has no gradient to send: nothing
        # of its backward comes first, it stays whole.
        expected = re.sub(r"\b([1-9])B(\d)", r"\1Bi\2 \1Bw\2", expected)
        expected = re.sub(r"\b0Bw\d ?", "", expected).replace("0Bi", "0B").replace("  ", " ")
    assert order(report) == expected.strip()
    assert report.peak_memory == tuple(simulate(schedule).peak_memory)


@pytest.mark.parametrize("name", ["GPipe", "1F1B"])
def test_the_report_agrees_with_the_simulated_schedule(name):
    costs = Costs(2, 3, 1, activations=[5, 7], weights=2, forward_transfer=0.5)
    got = lower(name).schedule.with_costs(costs)
    timeline = simulate(build(name, P, M), costs)
    assert got.step_time == timeline.step_time
    assert got.bubble_fraction == pytest.approx(timeline.bubble_fraction)
    assert got.peak_memory == tuple(timeline.peak_memory)
    assert got.makespan == timeline.makespan
    assert got.critical_path[0] == "0F0" and got.critical_path[-1] == "0B2"


def test_the_report_is_of_the_order_that_runs():
    lowered = lower("GPipe")
    calls = re.findall(r'fragment_call<mesh="m0", origin=\["a"(\(1\))?\]', lowered.as_text("mpmd"))
    first = [box for box in lowered.schedule.boxes if box.mesh == 0]
    assert [bool(call) for call in calls] == [box.kinds == (Kind.B,) for box in first]


def test_a_program_without_microbatches():
    def forward(w, x):
        x = mpmd.named_computation(lambda x, w: x @ w, name="a")(x, w[0])
        return mpmd.named_computation(lambda x, w: x @ w, name="b")(x, w[1])

    report = mpmd.jit(forward, config()).lower(W[:2], X[0]).schedule
    assert order(report) == "0F0 | 1F0"
    assert report.peak_memory == (1, 1)


def test_what_belongs_to_no_microbatch_is_named():
    def update(w, x):
        _, grads = training_step("ab")(w, x)
        shrink = mpmd.named_computation(lambda w, g: w - 0.1 * g, name="opt")
        return [shrink(w[0], grads[0]), w[1] - 0.1 * grads[1]]

    cfg = config(labels={"a": "m0", "b": "m1", "opt": "m0"})
    report = mpmd.jit(update, cfg).lower(W[:2], X).schedule
    assert order(report) == wanted("1F1B")
    assert "outside of microbatches, taken to need no time: opt" in str(report)


def test_a_rule_about_a_fragment_that_does_not_exist_is_a_warning():
    rule = mpmd.FragmentScheduleRule([info("a", 7), info("a", 0)])
    with pytest.warns(UserWarning, match="call_counter=7.* doesn't exist"):
        lower([rule])


def test_what_a_predicate_raises_arrives_with_the_place():
    def broken(one, two):
        raise KeyError("x")

    with pytest.raises(KeyError) as caught:
        lower(broken)
    assert "while the pipeline schedule compared FragmentInfo(" in caught.value.__notes__[0]


MISTAKES = {
    "pipeline_schedule is for 3 meshes, but the topology has 2: 'm0', 'm1'": [
        (build("1F1B", 3, 4), {}),
        ([["0F0"], ["1F0"], ["2F0"]], {}),
    ],
    "pipeline_schedule: 1F0 is scheduled 2 times": [([["0F0"], ["1F0", "1F0"]], {})],
    "pipeline_schedule: 1B0 is missing on mesh 1": [([["0F0", "0B0"], ["1F0"]], {})],
    r"the order is cyclic: 0B0 on mesh 0 waits for 1B0.*\n.*>0B0<": [
        ([["0B0", "0F0"], ["1F0", "1B0"]], {})
    ],
    "ZBV runs 2 stages on each mesh, but the labels make 1 stage on a mesh, 2 stages in all": [
        ("ZBV", {})
    ],
    "ZBV runs stage 2 on mesh 'm1', but its labels are on 'm0'; .* on 'm0', 'm1', 'm1', 'm0'": [
        ("ZBV", {"labels": INTERLEAVED}),
        (build("ZBV", P, M), {"labels": INTERLEAVED}),
        (None, {"labels": INTERLEAVED, "partitioning_options": {"mpmd_pipeline_schedule": "ZBV"}}),
    ],
    "Interleaved1F1B runs stage 2 on mesh 'm0', but its labels are on 'm1'": [
        ("Interleaved1F1B", {"labels": SWAPPED})
    ],
    "runs 2 stages on mesh 'm0', but the labels there make 1 stage": [
        ([["0F0", "2F0"], ["1F0", "3F0"]], {})
    ],
    r"pipeline_schedule\[0\] names 'z', which is no label; the labels are 'a', 'b'": [
        ([mpmd.FragmentScheduleRule([info("z", 0), info("a", 0)])], {})
    ],
    "has the label 'a' on mesh 'm1', but name_to_mesh_assignment puts it on 'm0'": [
        ([mpmd.FragmentScheduleRule([info("a", 0, mesh_name="m1"), info("b", 0)])], {})
    ],
    "is about fragments of one mesh, but names 'm0', 'm1'": [
        ([mpmd.FragmentScheduleRule([info("a", 0), info("b", 0)])], {})
    ],
    r"contradictory: FragmentInfo\(.*counter=(\d).* -> .* -> FragmentInfo\(.*counter=\1": [
        (
            [
                mpmd.FragmentScheduleRule([info("a", 0), info("a", 1), info("a", 2)]),
                mpmd.FragmentScheduleRule([info("a", 2), info("a", 1)]),
            ],
            {},
        )
    ],
    "pipeline_schedule and fragment_schedule_rules both say": [
        ("1F1B", {"fragment_schedule_rules": RULES})
    ],
    r"fragment_merge_rules\[0\] names 'z', which is no label": [
        (
            None,
            {"fragment_merge_rules": [mpmd.FragmentMergeRule([info("z", 0)] * 2, info("a", 0))]},
        )
    ],
}


@pytest.mark.parametrize(
    ("message", "schedule", "options"),
    [(message, *case) for message, cases in MISTAKES.items() for case in cases],
)
def test_mistakes_show_before_tracing(message, schedule, options):
    with pytest.raises(ValueError, match=f"(?s){message}"):
        config(schedule, **options)


def test_a_table_for_fewer_microbatches_than_the_program_has():
    message = (
        r"^schedule table has no F of microbatch 2 for a on mesh 'm0': it is for 2 stages on "
        r"2 meshes and 2 microbatches \(.*test_schedules.py:\d+\)$"
    )
    with pytest.raises(mpmd.errors.PartitionError, match=message):
        lower(build("1F1B", P, M - 1))


def test_a_table_that_cannot_run_is_a_schedule_error():
    with pytest.raises(ScheduleError):
        config([["0B0", "0F0"], ["1F0", "1B0"]])


def test_a_rule_knows_fragments_by_their_stage_too():
    rule = mpmd.FragmentScheduleRule([info("a", 1), info("a", 0)])
    checked = config([rule], INTERLEAVED).fragment_schedule_rules
    assert [each.stage_id for each in checked[0].ordered_fragments] == [0, 0]
    wrong = mpmd.FragmentInfo([mpmd.FragmentOrigin("a")], mesh_name="m0", stage_id=2)
    with pytest.raises(ValueError, match="the label 'a' in stage 2, but it has stage 0"):
        config([mpmd.FragmentScheduleRule([wrong, info("a", 0)])], INTERLEAVED)


def test_a_predicate_that_no_program_can_follow():
    with pytest.raises(mpmd.errors.PartitionError, match="Cycle detected"):
        lower(lambda one, two: one.kind is Kind.B and two.kind is Kind.F)
    with pytest.raises(mpmd.errors.PartitionError, match=r"is to run before .*, and .* before"):
        lower(lambda one, two: True)
