"""Sums over microbatches keep their value and change their order."""

import itertools
import re

import pytest

from mpmd.dialect._jaxlib import ir, make_context
from mpmd.passes.common.accumulate_in_order import AccumulateInOrder
from mpmd.passes.runner import run_passes
from tests.unit.passes.common.programs import evaluate

T = "tensor<2xf64>"
TOPOLOGY = 'attributes {topology = #mpmd.topology<<"m0": <["x"=1]>>>}'
GRADIENT = f"""
func.func private @gradient(%x: {T}) -> {T} {TOPOLOGY} {{
  %0 = mpmd.named_computation<"f"(1)> (%x) (%p: {T}) {{
    %1 = stablehlo.multiply %p, %p : {T}
    mpmd.return %1 : {T}
  }} : ({T}) -> {T}
  return %0 : {T}
}}
"""


@pytest.fixture(scope="module", autouse=True)
def context():
    with make_context(), ir.Location.unknown():
        yield


def order_of_calls(module: ir.Module) -> list[int]:
    return [int(number) for number in re.findall(r"call_counter = (\d+)", str(module))]


def summed(order: tuple[int, ...]) -> str:
    """Calls in the given order, added up from the first to the last."""
    arguments = ", ".join(f"%x{i}: {T}" for i in range(len(order)))
    lines, total = [], None
    for i in order:
        lines.append(
            f"  %g{i} = mpmd.call @gradient(%x{i}) {{call_counter = {i} : ui32}} : ({T}) -> {T}"
        )
        if total is not None:
            lines.append(f"  %s{i} = stablehlo.add {total}, %g{i} : {T}")
        total = f"%g{i}" if total is None else f"%s{i}"
    body = "\n".join(lines)
    return f"""func.func @main({arguments}) -> {T} {TOPOLOGY} {{
{body}
  return {total} : {T}
}}
{GRADIENT}"""


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_results_of_calls_are_added_up_in_order(order):
    module = ir.Module.parse(summed(order))
    arguments = [[float(i), 10.0 + i] for i in range(4)]
    expected = evaluate(module, arguments)
    run_passes(module.operation, [AccumulateInOrder()])
    module.operation.verify()
    assert evaluate(module, arguments) == expected
    assert order_of_calls(module) == [0, 1, 2, 3]
    main = str(module).split("func.func private")[0]
    assert "stablehlo.add" not in main
    assert "@gradient(" not in str(module)


def chained(order: tuple[int, ...]) -> str:
    """Calls that pass a sum on in the given order."""
    arguments = ", ".join(f"%x{i}: {T}" for i in range(len(order)))
    lines, total = [], "%zero"
    for i in order:
        lines.append(
            f"  %s{i} = mpmd.call @running(%x{i}, {total}) {{call_counter = {i} : ui32}} "
            f": ({T}, {T}) -> {T}"
        )
        total = f"%s{i}"
    body = "\n".join(lines)
    return f"""func.func @main({arguments}, %zero: {T}) -> {T} {TOPOLOGY} {{
{body}
  return {total} : {T}
}}
func.func private @running(%x: {T}, %sum: {T}) -> {T} {TOPOLOGY} {{
  %0 = stablehlo.add %sum, %x : {T}
  return %0 : {T}
}}
"""


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_calls_that_pass_a_sum_on_do_so_in_order(order):
    module = ir.Module.parse(chained(order))
    arguments = [[float(i), 10.0 + i] for i in range(5)]
    expected = evaluate(module, arguments)
    run_passes(module.operation, [AccumulateInOrder()])
    module.operation.verify()
    assert evaluate(module, arguments) == expected
    assert order_of_calls(module) == [0, 1, 2, 3]


def test_microbatches_that_occur_twice_stay():
    text = chained((2, 1, 0)).replace("call_counter = 1", "call_counter = 0")
    module = ir.Module.parse(text)
    before = str(module)
    run_passes(module.operation, [AccumulateInOrder()])
    assert str(module) == before
