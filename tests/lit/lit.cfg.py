"""Configuration of the lit suite: runs `mpmd-opt` and FileCheck from the environment in use."""

import os
import sys

import lit.formats

config.name = "mpmd"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.environ.get(
    "MPMD_LIT_OUTPUT", os.path.join(os.path.dirname(__file__), "..", "..", "build", "lit")
)

_bin = os.path.dirname(sys.executable)
config.environment["PATH"] = os.pathsep.join((_bin, os.environ.get("PATH", "")))
for _name in ("HOME", "MPMD_TRACEBACK"):
    if _name in os.environ:
        config.environment[_name] = os.environ[_name]
config.substitutions.append(
    ("FileCheck", f"{sys.executable} -m filecheck --enable-var-scope --reject-empty-vars")
)
