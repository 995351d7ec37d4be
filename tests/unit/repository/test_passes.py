"""What every pass must have: name, summary, options with help, round trip, lit tests, docs."""

import dataclasses
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mpmd.passes import registry
from mpmd.passes.base import Pass
from mpmd.passes.text import parse_pipeline

ROOT = Path(__file__).resolve().parents[3]
NAMES = registry.names()


@pytest.mark.parametrize("name", NAMES)
def test_a_pass_is_complete(name):
    cls = registry.find(name)
    assert cls is not None
    assert cls.name == name
    assert issubclass(cls, Pass)
    assert dataclasses.is_dataclass(cls)
    summary = cls.summary()
    assert summary.endswith("."), f"the summary of {name} does not end in a full stop"
    assert summary[0].isupper()
    for option in cls.options():
        assert option.help, f"option {option.name} of {name} has no help"
        assert option.help.endswith("."), option.help


@pytest.mark.parametrize("name", NAMES)
def test_defaults_round_trip_through_text(name):
    cls = registry.find(name)
    made = cls()
    from mpmd.dialect._jaxlib import make_context

    with make_context():
        assert parse_pipeline(str(made)) == [made]


@pytest.mark.parametrize("name", NAMES)
def test_boolean_options_round_trip(name):
    cls = registry.find(name)
    from mpmd.dialect._jaxlib import make_context

    for option in cls.options():
        if option.kind == "bool":
            changed = cls(**{option.field: not option.default})
            with make_context():
                assert parse_pipeline(str(changed)) == [changed]


@pytest.mark.parametrize("name", NAMES)
def test_a_pass_has_lit_tests_that_run_it(name):
    folders = [path for path in (ROOT / "tests/lit").glob(f"*/{name}") if path.is_dir()]
    assert len(folders) == 1, f"{name} needs one folder below tests/lit"
    runs = [
        line
        for path in folders[0].glob("*.mlir")
        for line in path.read_text().splitlines()
        if re.match(r"//\s*RUN:", line)
    ]
    assert any(name in line for line in runs)


def test_documentation_is_fresh():
    done = subprocess.run(
        [sys.executable, ROOT / "docs/generate_passes.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
