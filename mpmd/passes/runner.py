"""Runs passes over a module, with hooks around each of them."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator, Sequence
from typing import Protocol

from mpmd.dialect._jaxlib import ir
from mpmd.passes.base import Pass, Pipeline


class Instrumentation(Protocol):
    """What wants to know of each pass: IR printing, timing, verification."""

    def before(self, pass_: Pass, module: ir.Operation) -> None:
        """Is called before a pass runs; for a pipeline, before its first pass."""

    def after(self, pass_: Pass, module: ir.Operation) -> None:
        """Is called after a pass ran without failure."""


class Verify:
    """Verifies the module after every pass that is not itself a pipeline."""

    def before(self, pass_: Pass, module: ir.Operation) -> None:
        """Does nothing."""

    def after(self, pass_: Pass, module: ir.Operation) -> None:
        """Raises MLIRError where the module does not verify."""
        if not isinstance(pass_, Pipeline):
            module.verify()


_active: contextvars.ContextVar[tuple[Instrumentation, ...]] = contextvars.ContextVar(
    "mpmd_instrumentation", default=()
)


@contextlib.contextmanager
def instrument(*hooks: Instrumentation) -> Iterator[None]:
    """Adds hooks for every pass that runs inside the block, in pipelines too."""
    token = _active.set((*_active.get(), *hooks))
    try:
        yield
    finally:
        _active.reset(token)


def run_passes(module: ir.Operation, passes: Sequence[Pass]) -> None:
    """Runs `passes` over `module` in order.

    Raises PassFailure where a pass of ours fails and MLIRError where a C++ pass or the verifier
    does; the module is then in an unspecified but valid-to-print state.
    """
    hooks = _active.get()
    with module.context, ir.Location.unknown(module.context):
        for pass_ in passes:
            for hook in hooks:
                hook.before(pass_, module)
            pass_.run(module)
            for hook in reversed(hooks):
                hook.after(pass_, module)
