"""Runs IFRT programs: one controller, any number of meshes, asynchronous dispatch."""

from mpmd.runtime.analysis import FragmentCost, MeshMemory
from mpmd.runtime.errors import ArgumentError, ExecutionError, LoadError, StepCancelled
from mpmd.runtime.executables import Progress
from mpmd.runtime.executor import LoadedProgram
from mpmd.runtime.loader import load

__all__ = [
    "ArgumentError",
    "ExecutionError",
    "FragmentCost",
    "LoadError",
    "LoadedProgram",
    "MeshMemory",
    "Progress",
    "StepCancelled",
    "load",
]
