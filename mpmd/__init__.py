"""MPMD partitioning of JAX programs.

Label parts of a function, say which label runs on which mesh, and run it over all of them:

    cfg = mpmd.make_config(topology, {"stage0": "m0", "stage1": "m1"}, pipeline_schedule="1F1B")
    step = mpmd.jit(train_step, cfg)
    params, loss = step(params, batch)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mpmd.frontend.artifacts import partition as partition
    from mpmd.frontend.config import Config as Config
    from mpmd.frontend.config import NameToMeshAssignment as NameToMeshAssignment
    from mpmd.frontend.config import NameToStageAssignment as NameToStageAssignment
    from mpmd.frontend.config import make_config as make_config
    from mpmd.frontend.jit import JitFunction as JitFunction
    from mpmd.frontend.jit import jit as jit
    from mpmd.frontend.loops import call as call
    from mpmd.frontend.loops import enumerated_for as enumerated_for
    from mpmd.frontend.loops import fori_loop as fori_loop
    from mpmd.frontend.ops import broadcast as broadcast
    from mpmd.frontend.ops import named_computation as named_computation
    from mpmd.frontend.ops import named_tensor as named_tensor
    from mpmd.frontend.ops import reduce as reduce
    from mpmd.frontend.options import PartitioningOptions as PartitioningOptions
    from mpmd.frontend.rules import FragmentInfo as FragmentInfo
    from mpmd.frontend.rules import FragmentMergeRule as FragmentMergeRule
    from mpmd.frontend.rules import FragmentOrigin as FragmentOrigin
    from mpmd.frontend.rules import FragmentScheduleRule as FragmentScheduleRule
    from mpmd.frontend.rules import SplitFragmentType as SplitFragmentType
    from mpmd.frontend.stages import Compiled as Compiled
    from mpmd.frontend.stages import FunctionMeshAssignment as FunctionMeshAssignment
    from mpmd.frontend.stages import FunctionNamedShardings as FunctionNamedShardings
    from mpmd.frontend.stages import Lowered as Lowered
    from mpmd.frontend.topology import Topology as Topology
    from mpmd.frontend.topology import mesh_names as mesh_names
    from mpmd.schedules import Schedule as PipelineSchedule  # noqa: F401
    from mpmd.schedules import ScheduleReport as ScheduleReport

# Where the names of the public API are. They are imported on use: `mpmd-opt` lives in this package
# and must start without JAX, which takes a second to import.
_HOMES = {
    "mpmd.frontend.artifacts": ("partition",),
    "mpmd.frontend.config": (
        "Config",
        "NameToMeshAssignment",
        "NameToStageAssignment",
        "make_config",
    ),
    "mpmd.frontend.jit": ("JitFunction", "jit"),
    "mpmd.frontend.loops": ("call", "enumerated_for", "fori_loop"),
    "mpmd.frontend.ops": ("broadcast", "named_computation", "named_tensor", "reduce"),
    "mpmd.frontend.options": ("PartitioningOptions",),
    "mpmd.frontend.rules": (
        "FragmentInfo",
        "FragmentMergeRule",
        "FragmentOrigin",
        "FragmentScheduleRule",
        "SplitFragmentType",
    ),
    "mpmd.frontend.stages": (
        "Compiled",
        "FunctionMeshAssignment",
        "FunctionNamedShardings",
        "Lowered",
    ),
    "mpmd.frontend.topology": ("Topology", "mesh_names"),
    "mpmd.schedules": ("ScheduleReport",),
}
_ALIASES = {  # names of the API that users may know, and what has their meaning here
    "FunctionIOMeshAssignment": ("mpmd.frontend.stages", "FunctionMeshAssignment"),
    "MpmdCompiled": ("mpmd.frontend.stages", "Compiled"),
    "MpmdConfig": ("mpmd.frontend.config", "Config"),
    "MpmdExecutable": ("mpmd.frontend.stages", "Compiled"),
    "MpmdLowered": ("mpmd.frontend.stages", "Lowered"),
    "MpmdWrapped": ("mpmd.frontend.jit", "JitFunction"),
    "PipelineSchedule": ("mpmd.schedules", "Schedule"),
}
_PLACES = {name: (home, name) for home, names in _HOMES.items() for name in names} | _ALIASES
_SUBPACKAGES = ("errors", "runtime", "schedules")

__all__ = sorted([*_PLACES, *_SUBPACKAGES])


def __getattr__(name: str) -> Any:
    """Imports a name of the public API when it is first used."""
    if name in _SUBPACKAGES:
        return importlib.import_module(f"mpmd.{name}")
    if name not in _PLACES:
        raise AttributeError(f"module 'mpmd' has no attribute {name!r}")
    home, original = _PLACES[name]
    value = getattr(importlib.import_module(home), original)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Lists the public API."""
    return list(__all__)
