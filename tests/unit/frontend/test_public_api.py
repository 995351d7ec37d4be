"""The names that users import."""

import subprocess
import sys

import pytest

import mpmd


@pytest.mark.parametrize("name", mpmd.__all__)
def test_every_public_name_can_be_imported(name):
    assert getattr(mpmd, name) is not None
    assert name in dir(mpmd)


def test_unknown_names():
    with pytest.raises(AttributeError, match="no attribute 'jitt'"):
        _ = mpmd.jitt
    with pytest.raises(AttributeError, match="no attribute 'OddError'"):
        _ = mpmd.errors.OddError


def test_all_errors_are_under_one_roof():
    for name in ("ArgumentError", "LabelError", "PartitionError", "LoadError", "ExecutionError"):
        assert issubclass(getattr(mpmd.errors, name), mpmd.errors.MpmdError)


def test_import_leaves_jax_alone():
    """`mpmd-opt` lives in this package and has to start fast."""
    code = "import sys, mpmd, mpmd.errors; assert 'jax' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
