"""The process that `mpmd-opt` works in: crashes become messages, exit codes come through."""

import os
import subprocess
import sys

import pytest

from mpmd.tools.opt.guard import guarded

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

CALL_OF_NOTHING = "func.func @f() { mpmd.call @nope() : () -> () return }\n"
WRONG_MESH = """func.func @f{}(%a: !mpmd.mesh_tensor<"m", tensor<4xf32>>)
    attributes {{topology = #mpmd.topology<<"m": <["x"=2]>>>}} {{
  %0 = mpmd.transfer %a : (!mpmd.mesh_tensor<"m", tensor<4xf32>>)
      -> !mpmd.mesh_tensor<"other", tensor<4xf32>>
  return
}}
"""


def opt(arguments, text):
    command = [sys.executable, "-m", "mpmd.tools.mpmd_opt", *arguments]
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=120)


def test_a_crash_of_the_verifier_is_a_message():
    done = opt(["-split-input-file"], "func.func @ok() { return }\n// -----\n" + CALL_OF_NOTHING)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("mpmd-opt: error: MLIR crashed (SIG")
    assert done.stderr.endswith("while reading and verifying the module at <stdin>:3\n")


def test_errors_in_many_functions_do_not_block_each_other():
    done = opt([], "".join(WRONG_MESH.format(number) for number in range(50)))
    assert done.returncode == 1
    assert "Topology doesn't have a mesh with name: other" in done.stderr


@pytest.mark.parametrize(("ending", "expected"), [("return 3", 3), ("os.abort()", 1)])
def test_exit_codes(ending, expected, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import os, sys\n"
        "from mpmd.tools.opt.guard import guarded\n"
        "def work(note):\n"
        "    note('counting')\n"
        f"    {ending}\n"
        "sys.exit(guarded(work))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60)
    assert done.returncode == expected
    assert ("(SIGABRT) while counting" in done.stderr) == (expected == 1)


def test_without_fork_the_work_is_done_here(monkeypatch):
    monkeypatch.delattr(os, "fork")
    assert guarded(lambda note: note("working") or os.getpid()) == os.getpid()
