"""Never more transfers, bytes moved, calls or distinct programs than the C++ partitioner makes."""

import os

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from benchmarks import reference
from tests.unit.endtoend.programs import PROGRAMS
from tests.unit.endtoend.test_equals_jit import jitted

# The C++ partitioner does not schedule these (it does not number calls, and gives up where
# gradients are summed from the last microbatch to the first): it merges the microbatches of a stage
# into one fragment. Ours stay apart so that they can be pipelined; only what is moved compares.
NOT_SCHEDULED_BY_CPP = ("gradient_outside", "token_weighted_mean")

# Gradients are added up as they appear. The C++ partitioner keeps all of them to the end, and needs
# no program for the first microbatch, which has no sum to add to: one more on each inner mesh.
SUMMED_IN_CALLS = ("by_calls", "calls_with_stages")

CASES = [
    pytest.param(name, schedule, id=f"{name}-{schedule}")
    for name, make in PROGRAMS.items()
    for schedule in ({"1F1B", "GPipe"} & set(make().schedules) or {None})
    if not make().config and not callable(make().jit)  # the reference takes labels only
]

pytestmark = pytest.mark.skipif(not reference.available(), reason="no C++ partitioner in jaxlib")


@pytest.mark.parametrize(("name", "schedule"), CASES)
def test_no_worse_than_cpp(name, schedule):
    program = PROGRAMS[name]()
    step, _ = jitted(program, schedule)
    lowered = step.lower(*program.args, **program.kwargs)
    assignment = {
        label: (mesh, program.stages[label]) if program.stages else mesh
        for label, mesh in program.assignment.items()
    }
    _, theirs, _ = reference.partition(
        lowered.as_text("stablehlo"),
        program.meshes,
        assignment,
        schedule=schedule or "1F1B",
        options={"mpmd_infer_transfers": True},
    )
    ours, theirs = reference.counts(lowered.as_text("mpmd")), reference.counts(theirs)
    if name.startswith(NOT_SCHEDULED_BY_CPP):
        ours = {key: ours[key] for key in ("transfers", "bytes")}
    if name.startswith(SUMMED_IN_CALLS):
        theirs["programs"] += max(len(program.meshes) - 2, 0)
    worse = {key: (ours[key], theirs[key]) for key in ours if ours[key] > theirs[key]}
    assert not worse, f"ours, C++: {worse}"
