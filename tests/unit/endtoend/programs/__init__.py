"""Programs that must give under `mpmd.jit` what they give under `jax.jit`."""

from . import dense, microbatched, odd, sequence  # noqa: F401 - they register themselves
from .registry import PROGRAMS, Program, program

__all__ = ["PROGRAMS", "Program", "program"]
