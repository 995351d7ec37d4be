"""Programs also run where JAX's internals are not those that the fast calls need."""

import os
import subprocess
import sys

import jax
import pytest

from mpmd.runtime import public

SCRIPT = """
import sys
sys.modules["mpmd.runtime._jax"] = None
import pytest
from mpmd.runtime.backend import jax_calls
assert jax_calls.__name__ == "mpmd.runtime.public"
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[1:]]))
"""
TESTS = (
    "reversed or another_order or donated_arguments or returned_unchanged or several_axes "
    "or two_arguments or (anywhere and 3x1)"
)


def test_programs_run_without_the_private_calls():
    root = os.path.dirname(__file__)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, os.path.join(root, "test_run.py"), "-k", TESTS],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_host_callbacks_are_refused_by_the_public_calls():
    with pytest.raises(ValueError, match="calls back to the host"):
        public.compile_text("", jax.devices()[:1], {}, [object()], lambda: ([], []))
