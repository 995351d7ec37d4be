"""The pipeline `mpmd-import-pipeline`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.passes.base import Pass, Pipeline, option
from mpmd.passes.common.absorb_inferred_fragments import AbsorbInferredFragments
from mpmd.passes.common.accumulate_in_order import AccumulateInOrder
from mpmd.passes.common.call_inline import CallInline
from mpmd.passes.common.fold import Fold
from mpmd.passes.common.fragment_dce import FragmentDce
from mpmd.passes.common.fragment_dedup import FragmentDedup
from mpmd.passes.common.merge_inferred_fragments import MergeInferredFragments
from mpmd.passes.common.move_transfers_to_producer import MoveTransfersToProducer
from mpmd.passes.common.outline_fragments import OutlineFragments
from mpmd.passes.common.remove_transfer_cycles import RemoveTransferCycles
from mpmd.passes.cpp import CppPass
from mpmd.passes.import_._assignment import (
    IndexAssignment,
    NameAssignment,
    format_assignment,
    index_assignment,
    parse_names,
)
from mpmd.passes.import_._constraints import Constraints, format_constraints, parse_constraints
from mpmd.passes.import_.copy_topology_from_main import CopyTopologyFromMain
from mpmd.passes.import_.enforce_input_output_equisharding import EnforceInputOutputEquisharding
from mpmd.passes.import_.erase_unused_callee_block_arguments import EraseUnusedCalleeBlockArguments
from mpmd.passes.import_.from_unroll_to_call_counter import FromUnrollToCallCounter
from mpmd.passes.import_.generate_sdy_meshes_from_topology import GenerateSdyMeshesFromTopology
from mpmd.passes.import_.infer_mesh_pipeline import InferMeshPipeline
from mpmd.passes.import_.inline_nested_calls import InlineNestedCalls
from mpmd.passes.import_.inline_nested_user_exposed_ops import InlineNestedUserExposedOps
from mpmd.passes.import_.insert_nameless_clone_of_negligible_ops import (
    InsertNamelessCloneOfNegligibleOps,
)
from mpmd.passes.import_.introduce_transfers import IntroduceTransfers
from mpmd.passes.import_.map_input_output_to_mesh import MapInputOutputToMesh
from mpmd.passes.import_.map_named_ops_to_mpmd_ops import MapNamedOpsToMpmdOps
from mpmd.passes.import_.number_calls import NumberCalls
from mpmd.passes.import_.simplify_named_computations import SimplifyNamedComputations
from mpmd.passes.import_.sink_negligible_ops_into_call_op import SinkNegligibleOpsIntoCallOp
from mpmd.passes.import_.unroll_for_loops import UnrollForLoops
from mpmd.passes.import_.validate_named_ops_in_mpmd_func import ValidateNamedOpsInMpmdFunc
from mpmd.passes.optimize.merge_user_fragments_into_scheduling_units import (
    MergeUserFragmentsIntoSchedulingUnits,
)
from mpmd.passes.optimize.split_bwd_fragments import SplitBwdFragments


@dataclass(frozen=True)
class ImportPipeline(Pipeline):
    """Turns a labelled module into fragments and transfers on the meshes of its topology.

    Labels become fragments where the assignment puts them, everything else goes where it is used,
    and microbatch calls are laid out flat, with one copy of each body that they share.
    """

    name: ClassVar[str] = "mpmd-import-pipeline"

    name_to_mesh_assignment: NameAssignment = option(
        (),
        "Labels and their meshes: name@mesh or name@mesh/stage.",
        parse=parse_names,
        format=format_assignment,
    )
    input_assignment: IndexAssignment = index_assignment("Argument")
    output_assignment: IndexAssignment = index_assignment("Result")
    constraints: Constraints = option(
        (),
        "Inputs and outputs that share a mesh: 0:0,1:2.",
        parse=parse_constraints,
        format=format_constraints,
    )
    infer_transfers: bool = option(False, "Add the transfers that mesh inference misses.")
    infer_cross_mesh_reductions: bool = option(
        False, "Turn annotated reductions over values of several meshes into transfers and adds."
    )
    absorb_on_entry_point_function: bool = option(
        False, "Merge inferred fragments into user fragments in the entry function, too."
    )
    merge_after_scheduling: bool = option(
        False, "Leave the merging of inferred fragments to the optimize pipeline."
    )
    split_bwd_fragments: bool = option(
        False, "Split backward fragments into what transfers wait for and the rest."
    )
    enable_heterogeneous_meshes: bool = option(
        False, "Give every mesh of the topology a sharding mesh of its own."
    )
    accumulate_in_order: bool = option(
        False,
        "Add up what microbatches return as they run, and keep them independent of each other "
        "otherwise, so that every schedule can order them.",
    )
    outline_bodies: bool = option(
        False, "Turn region fragments into calls of shared functions before calls are inlined."
    )

    def passes(self) -> list[Pass]:
        return [
            *self._clean_up(),
            *self._lay_out_calls(),
            *self._simplify_labels(),
            *self._assign_meshes(),
            *self._merge(),
            *self._flatten(),
        ]

    def _clean_up(self) -> list[Pass]:
        return [
            # First, while every function is still as JAX left it: all later passes know
            # StableHLO only.
            CppPass("func.func(chlo-legalize-to-stablehlo)"),
            # Private helpers of JAX, such as a jitted relu, have no mesh of their own. Calls of
            # microbatches are mpmd.call, which this does not touch.
            CppPass("inline"),
            # The less there is in labels, the less they take and return.
            CppPass("func.func(cse)"),
            CppPass("func.func(canonicalize)"),
        ]

    def _lay_out_calls(self) -> list[Pass]:
        meshes: list[Pass] = (
            # Before anything reads shardings; needs the topology only.
            [GenerateSdyMeshesFromTopology()] if self.enable_heterogeneous_meshes else []
        )
        return [
            # Before callees become MPMD functions, which must not call.
            InlineNestedCalls(),
            CopyTopologyFromMain(),
            *meshes,
            UnrollForLoops(),
            # Folds what an iteration's number made constant, and slices of what was just stacked.
            Fold(),
            CppPass("func.func(canonicalize)"),
            FromUnrollToCallCounter(),
            *([NumberCalls()] if self.accumulate_in_order else []),
            # While sums are plain additions of what calls with counters return.
            *([AccumulateInOrder()] if self.accumulate_in_order else []),
            # After unrolling, which shows what all calls of a function pass alike.
            SinkNegligibleOpsIntoCallOp(),
        ]

    def _simplify_labels(self) -> list[Pass]:
        return [
            # Before results are simplified: a constant result that only labels use becomes unused.
            InsertNamelessCloneOfNegligibleOps(),
            SimplifyNamedComputations(),
        ]

    def _assign_meshes(self) -> list[Pass]:
        names = self.name_to_mesh_assignment
        return [
            MapInputOutputToMesh(self.input_assignment, self.output_assignment),
            # Before labels become fragments, which do not nest.
            InlineNestedUserExposedOps(names),
            # After nested labels are gone: what is reported now is wrong.
            ValidateNamedOpsInMpmdFunc(),
            MapNamedOpsToMpmdOps(names),
            # Before inference, for which an unassign next to an assign is two unrelated values.
            IntroduceTransfers(),
            # Arguments that only pass through a callee have no use that tells their mesh.
            EraseUnusedCalleeBlockArguments(),
            InferMeshPipeline(
                constraints=self.constraints,
                infer_transfers=self.infer_transfers,
                infer_cross_mesh_reductions=self.infer_cross_mesh_reductions,
            ),
        ]

    def _merge(self) -> list[Pass]:
        merging = [
            AbsorbInferredFragments(self.absorb_on_entry_point_function),
            self._merge_inferred(merge_any_consumer=True),
            self._merge_inferred(merge_sideways=True),
        ]
        return [
            # In callees, once for all their calls. After scheduling it would be too late for them.
            *([] if self.merge_after_scheduling else merging),
            # After merging, so that the transfers that it adds do not stand between fragments.
            EnforceInputOutputEquisharding(self.constraints),
            # Merging leaves operands and results that are doubled or unused.
            FragmentDedup(),
            FragmentDce(),
            RemoveTransferCycles(),
        ]

    def _merge_inferred(self, **options: bool) -> Pass:
        return MergeInferredFragments(keep_schedulable=self.accumulate_in_order, **options)

    def _flatten(self) -> list[Pass]:
        merging = [] if self.merge_after_scheduling else [self._merge_inferred()]
        return [
            # Before calls are inlined, so that a microbatch is a few calls and not a copy of all
            # bodies.
            *([OutlineFragments()] if self.outline_bodies else []),
            CallInline(),
            # The callees are not called any more.
            CppPass("symbol-dce"),
            # Inferred fragments of neighbouring calls now stand side by side.
            *merging,
            # Transfers start when their value is there, wherever the call stood.
            MoveTransfersToProducer(),
            # Schedules order one fragment per stage, direction and microbatch.
            MergeUserFragmentsIntoSchedulingUnits(),
            # Last, as only whole backward units are worth splitting.
            *(self._split() if self.split_bwd_fragments else []),
        ]

    def _split(self) -> list[Pass]:
        lean = self.outline_bodies
        # Lean halves take operands again themselves. Others get them handed on, until
        # canonicalization sees through that.
        see_through: list[Pass] = (
            [] if lean else [CppPass("func.func(canonicalize{region-simplify=disabled})")]
        )
        return [
            SplitBwdFragments(minimize_residuals=lean),
            *see_through,
            # Both halves take all that the whole took, until here.
            FragmentDce(),
        ]
