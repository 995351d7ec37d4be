"""Splitting backwards: the halves compute what the whole did, and each body is split once."""

import random

import numpy as np
import pytest

from mpmd.dialect._jaxlib import ir, make_context
from mpmd.dialect.fragment import CALL, REGION
from mpmd.dialect.functions import callee_name, entry_block, functions, symbol_name
from mpmd.passes.common.fragment_dce import FragmentDce
from mpmd.passes.common.outline_fragments import OutlineFragments
from mpmd.passes.optimize.split_bwd_fragments import SplitBwdFragments
from mpmd.passes.runner import run_passes

T = "tensor<2x2xf64>"
M0, M1 = (f'!mpmd.mesh_tensor<"m{i}", {T}>' for i in range(2))
TOPOLOGY = '#mpmd.topology<<"m0": <["x"=1]>>, <"m1": <["x"=1]>>>'
ARITHMETIC = {"add": np.add, "multiply": np.multiply, "subtract": np.subtract}


def program(lines, returned, transferred, microbatches=1):
    """A function with the same backward fragment for every microbatch."""
    ops, results = [], []
    for i in range(microbatches):
        ops += [
            f'%f{i}:{len(returned)} = mpmd.fragment<mesh="m1", origin=["f"(1)]> (%a, %b) '
            f"{{call_counter = {i} : ui32}} (%x: {T}, %y: {T}) {{",
            *lines,
            f"mpmd.return {', '.join(returned)} : {', '.join([T] * len(returned))}",
            f"}} : ({M1}, {M1}) -> ({', '.join([M1] * len(returned))})",
        ]
        for number in range(len(returned)):
            if number in transferred:
                ops.append(f"%t{i}_{number} = mpmd.transfer %f{i}#{number} : ({M1}) -> {M0}")
                results.append((f"%t{i}_{number}", M0))
            else:
                results.append((f"%f{i}#{number}", M1))
    values, types = (", ".join(each) for each in zip(*results, strict=True))
    return "\n".join(
        [
            f"func.func @main(%a: {M1}, %b: {M1}) -> ({types}) attributes "
            f"{{topology = {TOPOLOGY}}} {{",
            *ops,
            f"return {values} : {types}",
            "}",
        ]
    )


def split(text, *, outline, minimize):
    context = make_context()
    with context, ir.Location.unknown():
        module = ir.Module.parse(text)
        outlining = [OutlineFragments()] if outline else []
        run_passes(module.operation, [*outlining, SplitBwdFragments(minimize), FragmentDce()])
        module.operation.verify()
    return module


def body_of(op, bodies):
    return entry_block(bodies[callee_name(op)]) if op.name == CALL else op.regions[0].blocks[0]


def main_of(module):
    bodies = {symbol_name(func): func for func in functions(module.operation)}
    return entry_block(bodies["main"]), bodies


def run_main(module, inputs, products):
    block, bodies = main_of(module)
    return run(block, inputs, bodies, products)


def run(block, values, bodies, products):
    """Computes what a block returns; counts the matrix products."""
    env = dict(zip(block.arguments, values, strict=True))
    for op in (each.operation for each in block.operations):
        taken = [env[value] for value in op.operands]
        kind = op.name.rpartition(".")[2]
        if kind == "return":
            return taken
        if op.name in (REGION, CALL):
            made = run(body_of(op, bodies), taken, bodies, products)
        elif kind == "dot_general":
            products.append(op)
            made = [taken[0] @ taken[1]]
        elif kind == "constant":
            made = [np.array(ir.DenseElementsAttr(op.attributes["value"]))]
        else:
            made = taken if kind == "transfer" else [ARITHMETIC[kind](*taken)]
        env.update(zip(op.results, made, strict=True))
    raise AssertionError("a block without a return")


def random_program(seed):
    random_ = random.Random(seed)
    values, lines = ["%x", "%y"], []
    for number in range(random_.randint(2, 10)):
        name, one, two = f"%v{number}", random_.choice(values[-4:]), random_.choice(values)
        kind = random_.choice(["constant", "dot", "dot", "dot", *ARITHMETIC])
        if kind == "constant":
            lines.append(f"{name} = stablehlo.constant dense<{number}.5> : {T}")
        elif kind == "dot":
            lines.append(
                f"{name} = stablehlo.dot_general {one}, {two}, contracting_dims = [1] x [0] : "
                f"({T}, {T}) -> {T}"
            )
        else:
            lines.append(f"{name} = stablehlo.{kind} {one}, {two} : {T}")
        values.append(name)
    returned = random_.choices(values, k=random_.randint(2, 5))
    transferred = random_.sample(range(len(returned)), random_.randint(1, len(returned) - 1))
    return program(lines, returned, transferred)


@pytest.mark.parametrize("minimize", [False, True])
@pytest.mark.parametrize("outline", [False, True])
def test_halves_compute_what_the_whole_did(outline, minimize):
    rng, num_split = np.random.default_rng(0), 0
    for seed in range(40):
        text = random_program(seed)
        inputs = [rng.normal(size=(2, 2)) for _ in range(2)]
        with make_context(), ir.Location.unknown():
            whole = ir.Module.parse(text)
        halves = split(text, outline=outline, minimize=minimize)
        before, after = [], []
        want = run_main(whole, inputs, before)
        got = run_main(halves, inputs, after)
        np.testing.assert_array_equal(got, want)
        assert len(after) <= len(before), "a product is computed twice"
        num_split += "split_keep_transferred" in str(halves)
    assert num_split >= 10


def test_a_body_is_split_once_for_all_microbatches():
    lines = [
        f"%d = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : ({T}, {T}) -> {T}",
        f"%e = stablehlo.dot_general %y, %x, contracting_dims = [1] x [0] : ({T}, {T}) -> {T}",
    ]
    text = program(lines, ["%d", "%e"], [0], microbatches=8)
    module = split(text, outline=True, minimize=True)
    block, bodies = main_of(module)
    calls = [op.operation for op in block.operations if op.operation.name == CALL]
    assert len(calls) == 16
    assert len({callee_name(call) for call in calls}) == 2
    assert len(bodies) == 3
