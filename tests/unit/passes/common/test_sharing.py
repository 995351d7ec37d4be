"""Bodies are shared: what a program of many microbatches costs in functions and operations."""

import pytest

from mpmd.dialect._jaxlib import ir, make_context
from mpmd.dialect.functions import functions
from mpmd.passes.common.absorb_inferred_fragments import AbsorbInferredFragments
from mpmd.passes.common.call_inline import CallInline
from mpmd.passes.common.fragment_dce import FragmentDce
from mpmd.passes.common.fragment_dedup import FragmentDedup
from mpmd.passes.common.merge_inferred_fragments import MergeInferredFragments
from mpmd.passes.common.outline_fragments import OutlineFragments
from mpmd.passes.cpp import CppPass
from mpmd.passes.runner import run_passes
from tests.unit.passes.common.programs import count, evaluate

HEAD = """
!t = tensor<f64>
!m = !mpmd.mesh_tensor<"m0", tensor<f64>>
!n = !mpmd.mesh_tensor<"m1", tensor<f64>>
#topology = #mpmd.topology<<"m0": <["x"=1]>>, <"m1": <["x"=1]>>>
func.func private @step(%x: !m, %w: !m, %sum: !n) -> !n attributes {topology = #topology} {
  %0:2 = mpmd.fragment<mesh="m0", origin=["f"]> (%x, %w, %w) (%p: !t, %q: !t, %r: !t) {
    %1 = stablehlo.multiply %p, %r : !t
    mpmd.return %1, %q : !t, !t
  } : (!m, !m, !m) -> (!m, !m)
  %t = mpmd.transfer %0#0 : (!m) -> !n
  %2 = mpmd.fragment<mesh="m1", origin=["g"]> (%t) (%p: tensor<f64>) {
    %1 = stablehlo.add %p, %p : tensor<f64>
    mpmd.return %1 : tensor<f64>
  } : (!n) -> !n
  %3 = mpmd.fragment<mesh="m1", origin=[]> (%sum, %2) (%p: tensor<f64>, %q: tensor<f64>) {
    %1 = stablehlo.add %p, %q : tensor<f64>
    mpmd.return %1 : tensor<f64>
  } : (!n, !n) -> !n
  return %3 : !n
}
"""


def program(microbatches: int) -> str:
    arguments = ", ".join(f"%x{i}: !m" for i in range(microbatches))
    calls = [
        f"  %{i} = mpmd.call @step(%x{i}, %w, {f'%{i - 1}' if i else '%zero'}) "
        f"{{call_counter = {i} : ui32}} : (!m, !m, !n) -> !n"
        for i in range(microbatches)
    ]
    return f"""{HEAD}
func.func @main({arguments}, %w: !m, %zero: !n) -> !n attributes {{topology = #topology}} {{
{chr(10).join(calls)}
  return %{microbatches - 1} : !n
}}
"""


BEFORE = [OutlineFragments(), CallInline(), CppPass("symbol-dce")]
PASSES = [
    [],
    [AbsorbInferredFragments(True)],
    [MergeInferredFragments()],
    [MergeInferredFragments(merge_sideways=True)],
    [FragmentDedup()],
    [FragmentDce()],
    [MergeInferredFragments(), FragmentDedup(), FragmentDce()],
]


@pytest.fixture(scope="module", autouse=True)
def context():
    with make_context(), ir.Location.unknown():
        yield


@pytest.mark.parametrize("passes", PASSES, ids=str)
def test_functions_do_not_grow_with_the_microbatches(passes):
    found = {}
    for microbatches in (3, 12):
        module = ir.Module.parse(program(microbatches))
        arguments = [float(i) for i in range(microbatches + 2)]
        expected = evaluate(module, arguments)
        run_passes(module.operation, [*BEFORE, *passes])
        module.operation.verify()
        assert evaluate(module, arguments) == expected
        assert count(module, "mpmd.fragment", "mpmd.call") == 0
        found[microbatches] = len(list(functions(module.operation)))
    assert found[3] == found[12]


def test_equal_rewrites_give_one_function():
    module = ir.Module.parse(program(10))
    passes = [AbsorbInferredFragments(), *BEFORE, FragmentDedup(), FragmentDce()]
    run_passes(module.operation, passes)
    # main, the first stage, and the second one with the sum: each once for ten microbatches.
    assert len(list(functions(module.operation))) == 3
    assert count(module, "mpmd.fragment_call") == 20
    assert count(module, "mpmd.transfer") == 10


def test_one_chain_of_merges_makes_one_body():
    links = 200
    lines = "\n".join(
        f"""  %{i + 1} = mpmd.fragment<mesh="m0", origin=[]> (%{i or "a"}, %w) (%p: !t, %q: !t) {{
    %z{i} = stablehlo.add %p, %q : !t
    mpmd.return %z{i} : !t
  }} : (!m, !m) -> !m"""
        for i in range(links)
    )
    module = ir.Module.parse(
        f"""!t = tensor<f64>
!m = !mpmd.mesh_tensor<"m0", tensor<f64>>
func.func @main(%a: !m, %w: !m) -> !m attributes {{topology = #mpmd.topology<<"m0": <["x"=1]>>>}} {{
{lines}
  return %{links} : !m
}}"""
    )
    run_passes(module.operation, [OutlineFragments(), MergeInferredFragments()])
    assert count(module, "mpmd.fragment_call") == 1
    assert len(list(functions(module.operation))) == 2
    assert evaluate(module, [1.0, 2.0]) == [1.0 + 2.0 * links]
