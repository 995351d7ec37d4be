"""mpmd-sharding-propagation-pipeline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.passes.base import Pass, Pipeline
from mpmd.passes.common.uniquify_function_inputs_outputs import UniquifyFunctionInputsOutputs
from mpmd.passes.partition.convert_sdy_constants import ConvertSdyConstants
from mpmd.passes.partition.convert_sdy_shardings_to_mpmd_types import (
    ConvertSdyShardingsToMpmdTypes,
)
from mpmd.passes.partition.enforce_user_shardings import EnforceUserShardings
from mpmd.passes.partition.extract_reshards_from_inter_mesh_transfers import (
    ExtractReshardsFromInterMeshTransfers,
)
from mpmd.passes.partition.populate_unreduced_out_sharding import PopulateUnreducedOutSharding
from mpmd.passes.partition.propagate_shardings import PropagateShardings
from mpmd.passes.partition.simplify_program import SimplifyProgram
from mpmd.passes.partition.specialize_fragment_functions import SpecializeFragmentFunctions


@dataclass(frozen=True)
class ShardingPropagationPipeline(Pipeline):
    """Decides how every value of a program is split over the devices of its mesh.

    From the shardings of the function's arguments and results and the constraints in bodies to
    mesh tensor types that all carry their sharding, and bodies that can be compiled on their own.
    """

    name: ClassVar[str] = "mpmd-sharding-propagation-pipeline"

    def passes(self) -> list[Pass]:
        return [
            # A value returned twice, or an argument returned, may have to leave with another
            # sharding: give each result a value of its own.
            UniquifyFunctionInputsOutputs(use_transfer_instead_of_fragment=True),
            PropagateShardings(),
            PopulateUnreducedOutSharding(),
            # Before reshards are taken out of transfers, because enforcing can add some.
            EnforceUserShardings(),
            ExtractReshardsFromInterMeshTransfers(),
            ConvertSdyShardingsToMpmdTypes(),
            ConvertSdyConstants(),
            # After the types tell which fragments only look idle.
            SimplifyProgram(),
            # Last, when no pass makes another function of a fragment any more.
            SpecializeFragmentFunctions(),
        ]
