"""No pass changes what a program computes, whether bodies are regions or functions."""

import pytest

from mpmd.dialect._jaxlib import ir, make_context
from mpmd.passes.common.absorb_inferred_fragments import AbsorbInferredFragments
from mpmd.passes.common.copy_constants import CopyConstants
from mpmd.passes.common.fragment_dce import FragmentDce
from mpmd.passes.common.fragment_dedup import FragmentDedup
from mpmd.passes.common.merge_inferred_fragments import MergeInferredFragments
from mpmd.passes.common.merge_transfers import MergeTransfers
from mpmd.passes.common.move_transfers_to_producer import MoveTransfersToProducer
from mpmd.passes.common.outline_fragments import OutlineFragments
from mpmd.passes.common.remove_transfer_cycles import RemoveTransferCycles
from mpmd.passes.common.uniquify_function_inputs_outputs import UniquifyFunctionInputsOutputs
from mpmd.passes.optimize.remat_fragment import RematFragment
from mpmd.passes.optimize.split_and_prioritize_transfer_independent_computations import (
    SplitAndPrioritizeTransferIndependentComputations,
)
from mpmd.passes.runner import run_passes
from tests.unit.passes.common.programs import evaluate, meshes_of_results, random_program

ARGUMENTS = [3.0, 5.0, 7.0]
PASSES = [
    AbsorbInferredFragments(True),
    CopyConstants(),
    FragmentDce(),
    FragmentDedup(),
    MergeInferredFragments(),
    MergeInferredFragments(merge_any_consumer=True),
    MergeInferredFragments(merge_sideways=True),
    MergeInferredFragments(merge_sideways=True, keep_schedulable=True),
    MergeTransfers(),
    MoveTransfersToProducer(),
    RemoveTransferCycles(),
    UniquifyFunctionInputsOutputs(),
    UniquifyFunctionInputsOutputs(True),
    RematFragment(),
    RematFragment(True),
    SplitAndPrioritizeTransferIndependentComputations(),
]
TOGETHER = [
    AbsorbInferredFragments(True),
    MergeInferredFragments(merge_any_consumer=True),
    MergeInferredFragments(merge_sideways=True),
    FragmentDedup(),
    FragmentDce(),
    CopyConstants(),
    UniquifyFunctionInputsOutputs(),
    MergeInferredFragments(),
    FragmentDce(),
]


@pytest.fixture(scope="module", autouse=True)
def context():
    with make_context(), ir.Location.unknown():
        yield


def check(seed, passes):
    module = ir.Module.parse(random_program(seed))
    expected, meshes = evaluate(module, ARGUMENTS), meshes_of_results(module)
    for outlined in ([], [OutlineFragments()]):
        module = ir.Module.parse(random_program(seed))
        run_passes(module.operation, [*outlined, *passes])
        module.operation.verify()
        assert evaluate(module, ARGUMENTS) == expected, (seed, str(module))
        assert meshes_of_results(module) == meshes


@pytest.mark.parametrize("pass_", PASSES, ids=str)
def test_a_pass_keeps_what_a_program_computes(pass_):
    for seed in range(25):
        check(seed, [pass_])


def test_all_passes_in_a_row_keep_what_a_program_computes():
    for seed in range(100, 160):
        check(seed, TOGETHER)
