"""Passes that jaxlib implements in C++ and registers by name, as elements of our pipelines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir, passmanager
from mpmd.passes.base import Pass


@dataclass(frozen=True)
class CppPass(Pass):
    """A C++ pass or nested pipeline, as the text that MLIR's pass manager reads."""

    name: ClassVar[str] = "cpp"
    text: str = "canonicalize"

    def run(self, module: ir.Operation) -> None:
        """Runs the pass; raises MLIRError with the diagnostics of a failure."""
        pass_manager = passmanager.PassManager.parse(f"builtin.module({self.text})", module.context)
        pass_manager.enable_verifier(False)  # the runner verifies after every pass where asked
        pass_manager.run(module)

    def __str__(self) -> str:
        return self.text
