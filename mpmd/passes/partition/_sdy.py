"""Shardy's propagation, as the list of its C++ passes that an MPMD program needs."""

from __future__ import annotations

import re
from functools import cache

from mpmd.dialect._jaxlib import ir, passmanager
from mpmd.passes.cpp import CppPass
from mpmd.passes.text import split_outside

# These prepare a module for partitioning, which XLA does later for each fragment on its own, or
# only serve debugging.
_NOT_OURS = (
    "canonicalize",
    "sdy-insert-explicit-reshards",
    "sdy-remove-sharding-groups",
    "sdy-save-module",
    "sdy-sharding-constraint-to-reshard",
    "sdy-verify-unreduced-axes",
)


def propagate(module: ir.Operation) -> None:
    """Propagates the shardings in `module` and closes them; raises MLIRError on failure."""
    CppPass(_pipeline_text(module.context)).run(module)


def _pipeline_text(context: ir.Context) -> str:
    """Returns the passes of Shardy's own pipeline, in the order of this jaxlib, less some."""
    with context:
        return _ours(str(passmanager.PassManager.parse("builtin.module(sdy-propagation-pipeline)")))


@cache
def _ours(pipeline: str) -> str:
    inner = pipeline.removeprefix("builtin.module(").removesuffix(")")
    passes = [each for each in split_outside(inner, ",") if not _is_not_ours(each)]
    # Options without a value print in a form that does not read back.
    return ",".join(re.sub(r" ?[\w-]+=(?=[ }])", "", each) for each in passes)


def _is_not_ours(text: str) -> bool:
    return text.removeprefix("func.func(").startswith(_NOT_OURS)
