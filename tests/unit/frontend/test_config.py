"""Every mistake in a configuration is a ValueError that names the key and what is valid."""

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import mpmd


def mesh(start, size=2, axes=("x",)):
    devices = np.array(jax.devices()[start : start + size])
    return Mesh(devices.reshape((size,) + (1,) * (len(axes) - 1)), axes)


TOPOLOGY = {"m0": mesh(0), "m1": mesh(2)}
LABELS = {"a": "m0", "b": "m1"}


def make(topology=TOPOLOGY, labels=LABELS, **options):
    return mpmd.make_config(topology, labels, **options)


def test_all_of_it():
    config = make(
        labels={"a": ("m0", 0), "b": "m1", "c": "m1#pinned_host"},
        name_to_stage_assignment={"b": 1},
        input_mesh_assignment=({"w": "m0"}, None, "m1"),
        output_mesh_assignment="m1#pinned_host",
        partitioning_options={"mpmd_infer_transfers": True, "mpmd_pipeline_schedule": "GPipe"},
    )
    assert config.name_to_mesh_assignment == {"a": "m0", "b": "m1", "c": "m1#pinned_host"}
    assert config.name_to_stage_assignment == {"a": 0, "b": 1}
    assert config.pipeline_schedule == "GPipe"
    assert config.sharding_mesh is TOPOLOGY["m0"]
    assert config.devices == jax.devices()[:4]


def test_schedules():
    assert make(pipeline_schedule="1F1B").pipeline_schedule == "1F1B"
    schedule = mpmd.PipelineSchedule.from_table([["0F0", "0B0"], ["1F0", "1B0"]])
    assert make(pipeline_schedule=schedule).pipeline_schedule is schedule
    table = make(pipeline_schedule=[["0F0", "0B0"], ["1F0", "1B0"]]).pipeline_schedule
    assert str(table) == str(schedule)
    by_name = make(pipeline_schedule={"m1": ["1F0", "1B0"], "m0": ["0F0", "0B0"]})
    assert str(by_name.pipeline_schedule) == str(schedule)


MISTAKES = {
    "topology must be a dict": dict(topology=[("m0", TOPOLOGY["m0"])]),
    "topology must not be empty": dict(topology={}),
    "a mesh name must be a non-empty string, got 3": dict(topology={3: TOPOLOGY["m0"]}),
    "'m@0' must not contain '@' or '#'": dict(topology={"m@0": mesh(0)}),
    r"topology\['m0'\] must be a jax.sharding.Mesh": dict(topology={"m0": jax.devices()[0]}),
    "the meshes 'm0' and 'm1' share the device": dict(topology={"m0": mesh(0), "m1": mesh(1)}),
    "name_to_mesh_assignment must be a dict": dict(labels=["a"]),
    r"name_to_mesh_assignment\['a'\] is not a mesh: 'm7'; the meshes are 'm0', 'm1'": dict(
        labels={"a": "m7"}
    ),
    r"'hbm' in 'm0#hbm' is no kind of memory; there are device, pinned_host": dict(
        labels={"a": "m0#hbm"}
    ),
    "name_to_mesh_assignment: 'main' cannot be a label": dict(labels={"main": "m0"}),
    "name_to_mesh_assignment: a label's name must be a string, got 1": dict(labels={1: "m0"}),
    r"\['a'\] must be a mesh or a pair \(mesh, stage\)": dict(labels={"a": ("m0", 1, 2)}),
    r"\['a'\]: a stage must be an integer >= 0, got -1": dict(labels={"a": ("m0", -1)}),
    "name_to_stage_assignment must be a dict": dict(name_to_stage_assignment=3),
    r"name_to_stage_assignment\['z'\]: this label has no mesh .* has 'a', 'b'": dict(
        name_to_stage_assignment={"z": 0}
    ),
    r"name_to_stage_assignment\['a'\]: a stage must be an integer >= 0, got True": dict(
        name_to_stage_assignment={"a": True}
    ),
    "name_to_mesh_assignment puts it in 1": dict(
        labels={"a": ("m0", 1)}, name_to_stage_assignment={"a": 2}
    ),
    "stage 0 is on two meshes: the label 'a' is on 'm0' and 'b' on 'm1'": dict(
        name_to_stage_assignment={"a": 0, "b": 0}
    ),
    r"input_mesh_assignment\[1\]\['w'\] is not a mesh: 'm3'": dict(
        input_mesh_assignment=("m0", {"w": "m3"})
    ),
    r"output_mesh_assignment\[0\] must be the name of a mesh, got 3": dict(
        output_mesh_assignment=[3]
    ),
    "no key 'mpmd_infer_transfer'; the keys are .*mpmd_infer_transfers": dict(
        partitioning_options={"mpmd_infer_transfer": True}
    ),
    r"\['mpmd_infer_transfers'\] must be a bool, got 1": dict(
        partitioning_options={"mpmd_infer_transfers": 1}
    ),
    r"\['mpmd_pipeline_schedule'\] must be a str": dict(
        partitioning_options={"mpmd_pipeline_schedule": True}
    ),
    "partitioning_options must be a dict": dict(partitioning_options=[1]),
    r"is no schedule: '2F2B'; there are .*1F1B": dict(pipeline_schedule="2F2B"),
    "pipeline_schedule must be": dict(pipeline_schedule=3),
    "give one of them": dict(
        pipeline_schedule="1F1B", partitioning_options={"mpmd_pipeline_schedule": "GPipe"}
    ),
    "pipeline_schedule: .*'0X0'": dict(pipeline_schedule=[["0X0"], []]),
    "pipeline_schedule has no list for the mesh 'm1'": dict(pipeline_schedule={"m0": ["0F0"]}),
    "pipeline_schedule names 'm9', which is no mesh": dict(
        pipeline_schedule={"m0": [], "m1": ["0F0"], "m9": []}
    ),
    "read_input_output_mesh_from_shardings must be a bool": dict(
        read_input_output_mesh_from_shardings="yes"
    ),
    "fragment_merge_rules must be a list of FragmentMergeRule": dict(fragment_merge_rules=[1]),
    "fragment_schedule_rules must be a list of FragmentScheduleRule": dict(
        fragment_schedule_rules="x"
    ),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes(message):
    with pytest.raises(ValueError, match=message):
        make(**MISTAKES[message])


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.integers() | st.sampled_from(["a", "m0"]), inner)
    ),
    max_leaves=6,
) | st.sampled_from([object(), np.arange(3), np.float32(1), len, TOPOLOGY, LABELS, mesh])
KEYS = (
    "topology",
    "labels",
    "name_to_stage_assignment",
    "input_mesh_assignment",
    "output_mesh_assignment",
    "partitioning_options",
    "read_input_output_mesh_from_shardings",
    "pipeline_schedule",
    "fragment_merge_rules",
    "fragment_schedule_rules",
)


@settings(max_examples=200, deadline=None, database=None, derandomize=True)
@given(st.dictionaries(st.sampled_from(KEYS), anything, min_size=1, max_size=3))
def test_random_values_give_value_errors_only(options):
    try:
        config = make(**options)
    except ValueError as error:
        assert str(error)
    else:
        assert isinstance(config, mpmd.Config)


def test_mesh_names():
    sharding = {name: NamedSharding(m, PartitionSpec("x")) for name, m in TOPOLOGY.items()}
    tree = {"w": sharding["m1"], "b": (jax.device_put(np.zeros(2), sharding["m0"]), None)}
    assert mpmd.mesh_names(tree, TOPOLOGY) == {"w": "m1", "b": ("m0", None)}
    with pytest.raises(ValueError, match="not on a mesh of the topology, which has 'm0', 'm1'"):
        mpmd.mesh_names(NamedSharding(mesh(4), PartitionSpec()), TOPOLOGY)


def test_rules_as_text():
    f = mpmd.FragmentInfo([mpmd.FragmentOrigin("f")], mesh_name="m1", call_counter=0)
    g = mpmd.FragmentInfo(
        [mpmd.FragmentOrigin("g", 1)],
        mesh_name="m1",
        stage_id=2,
        split_type=mpmd.SplitFragmentType.KEEP_TRANSFERRED,
    )
    assert str(mpmd.FragmentScheduleRule([f, g])) == (
        "FragmentScheduleRule(ordered_fragments=["
        'FragmentInfo(origins=["f"],call_counter=0,mesh_name="m1")->'
        'FragmentInfo(origins=["g"(1)],stage_id=2,split_type=kKeepTransferred,mesh_name="m1")])'
    )
    text = 'FragmentInfo(origins=["f"],call_counter=0,mesh_name="m1")'
    assert str(mpmd.FragmentMergeRule([f, f], f)) == (
        f"FragmentMergeRule(sources=[{text},{text}],target={text})"
    )


INFO = mpmd.FragmentInfo([mpmd.FragmentOrigin("f")], mesh_name="m1")


@pytest.mark.parametrize(
    ("make_rule", "message"),
    [
        (lambda: mpmd.FragmentOrigin(3), "computation_name must be a string"),
        (lambda: mpmd.FragmentOrigin("f", -1), "transpose_count must be an integer >= 0"),
        (lambda: mpmd.FragmentInfo(["f"], mesh_name="m"), "origins must be a list of FragmentO"),
        (lambda: mpmd.FragmentInfo([], mesh_name=3), "mesh_name must be a string"),
        (lambda: mpmd.FragmentInfo([], mesh_name="m", stage_id=-1), "stage_id must be"),
        (lambda: mpmd.FragmentInfo([], mesh_name="m", call_counter=-1), "call_counter must"),
        (lambda: mpmd.FragmentInfo([], mesh_name="m", split_type="x"), "split_type must be"),
        (lambda: mpmd.FragmentMergeRule([INFO] * 2, 3), "target must be a list of FragmentInfo"),
        (lambda: mpmd.FragmentMergeRule([INFO], INFO), "sources must be at least 2, got 1"),
        (lambda: mpmd.FragmentScheduleRule([INFO]), "ordered_fragments must be at least 2, got 1"),
        (lambda: mpmd.FragmentScheduleRule([3]), "ordered_fragments must be a list"),
    ],
)
def test_bad_rules(make_rule, message):
    with pytest.raises(ValueError, match=message):
        make_rule()
