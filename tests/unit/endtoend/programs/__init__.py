"""Programs that must give under `mpmd.jit` what they give under `jax.jit`."""

from .registry import PROGRAMS, Program, program
from . import dense, microbatched, odd, sequence  # noqa: F401, I001 - they register themselves

__all__ = ["PROGRAMS", "Program", "program"]
