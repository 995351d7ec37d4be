"""Never more transfers, bytes moved, calls or distinct programs than the C++ partitioner makes."""

import os

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from benchmarks import reference
from tests.unit.endtoend.programs import PROGRAMS
from tests.unit.endtoend.test_equals_jit import jitted

# What the C++ partitioner cannot be given: it has no such argument, refuses the program, or gives
# up scheduling it, so that its program is another one.
WITHOUT_REFERENCE: set[str] = set()

CASES = [
    pytest.param(name, schedule, id=f"{name}-{schedule}")
    for name, make in PROGRAMS.items()
    for schedule in ({"1F1B", "GPipe"} & set(make().schedules) or {None})
    if name not in WITHOUT_REFERENCE and not make().config and not callable(make().jit)
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
    worse = {key: (ours[key], theirs[key]) for key in ours if ours[key] > theirs[key]}
    assert not worse, f"ours, C++: {worse}"
