"""Mesh inference as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.passes.base import Pass, Pipeline, option
from mpmd.passes.import_._constraints import (
    Constraints,
    format_constraints,
    parse_constraints,
)
from mpmd.passes.import_._error_limit import error_limit
from mpmd.passes.import_.infer_mesh_assign_mesh_func_leaves import InferMeshAssignMeshFuncLeaves
from mpmd.passes.import_.infer_mesh_assign_using_input_output_constraints import (
    InferMeshAssignUsingInputOutputConstraints,
)
from mpmd.passes.import_.infer_mesh_convert_reduce_ops import InferMeshConvertReduceOps
from mpmd.passes.import_.infer_mesh_finalize import InferMeshFinalize
from mpmd.passes.import_.infer_mesh_populate_src_set import InferMeshPopulateSrcSet
from mpmd.passes.import_.infer_mesh_populate_use_set import InferMeshPopulateUseSet
from mpmd.passes.import_.infer_mesh_rewrite_using_analysis import InferMeshRewriteUsingAnalysis
from mpmd.passes.import_.infer_mesh_validate_no_additional_transfers_needed import (
    InferMeshValidateNoAdditionalTransfersNeeded,
)
from mpmd.passes.import_.infer_mesh_validate_src_set_not_empty import (
    InferMeshValidateSrcSetNotEmpty,
)


@dataclass(frozen=True)
class InferMeshPipeline(Pipeline):
    """Finds a mesh for every computation that the user did not label, and for inputs and outputs.

    A computation must be wherever it is used, and can be only where all of its operands are. Where
    the first is not inside the second a transfer is missing: it is made when `infer-transfers` is
    on, else reported. Afterwards all values have a mesh, and what had none is in inferred
    fragments.

        %1 = stablehlo.sine %0 : T             // %0 is on m1, and %1 is used there
      ~~>
        %1 = mpmd.fragment<mesh="m1", origin=[]> (%0) { ... stablehlo.sine ... }

    Requires `mpmd-introduce-transfers`, and loops that are unrolled.
    """

    name: ClassVar[str] = "mpmd-infer-mesh-pipeline"
    infer_transfers: bool = option(False, "Make the transfers that are missing.")
    infer_cross_mesh_reductions: bool = option(
        False, "Make reductions of computations whose operands are on different meshes."
    )
    max_clones: int = option(
        1, "How many fragments may repeat a computation of several operands that they share."
    )
    error_limit: int = error_limit()
    constraints: Constraints = option(
        (),
        "Comma-separated INPUT:OUTPUT pairs of numbers that get the same mesh.",
        parse=parse_constraints,
        format=format_constraints,
    )

    def passes(self) -> list[Pass]:
        passes: list[Pass] = [InferMeshPopulateUseSet(), InferMeshPopulateSrcSet()]
        if self.constraints:
            # The ties decide some meshes, so the sets are made again.
            passes += [
                InferMeshAssignUsingInputOutputConstraints(self.constraints),
                InferMeshPopulateUseSet(),
                InferMeshPopulateSrcSet(),
            ]
        # With inferred transfers a reduction is one that moves less, so it is always wanted.
        passes.append(
            InferMeshConvertReduceOps(self.infer_transfers or self.infer_cross_mesh_reductions)
        )
        if not self.infer_transfers:
            passes.append(InferMeshValidateSrcSetNotEmpty(self.error_limit))
        # The leaves that were assigned are new uses.
        passes.append(InferMeshAssignMeshFuncLeaves(self.infer_transfers, self.error_limit))
        passes.append(InferMeshPopulateUseSet())
        if not self.infer_transfers:
            passes.append(InferMeshValidateNoAdditionalTransfersNeeded(self.error_limit))
        passes.append(InferMeshRewriteUsingAnalysis(self.max_clones))
        passes.append(InferMeshFinalize(self.infer_transfers))
        return passes
