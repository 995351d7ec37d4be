"""The stable sort, against the slow way to say what it does."""

import random

import pytest

from mpmd.dialect._jaxlib import ir, make_context
from mpmd.passes.optimize._order import Cycle, ProgramOrder


def block_of(inputs):
    """Makes a block of operations, each using the results of those listed for it."""
    lines = [
        f"%{i} = stablehlo.custom_call @op{i}({', '.join(f'%{j}' for j in used)}) : "
        f"({', '.join(['tensor<f32>'] * len(used))}) -> tensor<f32>"
        for i, used in enumerate(inputs)
    ]
    text = "func.func @main() {\n" + "\n".join(lines) + "\nreturn\n}"
    module = ir.Module.parse(text)
    return module, module.body.operations[0].regions[0].blocks[0]


def order_of(block):
    *ops, _ = block.operations
    return [int(ir.StringAttr(op.attributes["call_target_name"]).value[2:]) for op in ops]


def round_by_round(count, edges):
    left, order = list(range(count)), []
    while left:
        before = len(order)
        for node in list(left):
            if all(a in order for a, b in edges if b == node):
                order.append(node)
                left.remove(node)
        if len(order) == before:
            return None
    return order


@pytest.mark.parametrize("seed", range(60))
def test_same_as_taking_what_is_ready_round_by_round(seed):
    draw = random.Random(seed)
    count = draw.randint(1, 14)
    inputs = [draw.sample(range(i), min(i, draw.choice([0, 0, 1, 2]))) for i in range(count)]
    edges = [(j, i) for i, used in enumerate(inputs) for j in used]
    positions = draw.sample(range(count), draw.randint(0, count))
    cuts = sorted(draw.sample(range(len(positions) + 1), min(3, len(positions))))
    ends = zip([0, *cuts], [*cuts, len(positions)], strict=True)
    groups = [positions[a:b] for a, b in ends if a < b]
    edges += [
        (a, b) for g, early in enumerate(groups) for late in groups[g + 1 :] for a in early
        for b in late
    ]  # fmt: skip
    expected = round_by_round(count, edges)
    with make_context(), ir.Location.unknown():
        module, block = block_of(inputs)
        order = ProgramOrder(block)
        order.add_chain(groups)
        if expected is None:
            with pytest.raises(Cycle):
                order.sort()
        else:
            assert order.sort() == (expected != list(range(count)))
            assert order_of(block) == expected
        assert module.operation.verify()


def test_a_value_used_in_a_region_counts():
    text = """
    func.func @main(%p: tensor<i1>) {
      %0 = stablehlo.custom_call @op0() : () -> tensor<f32>
      %1 = "stablehlo.if"(%p) ({
        stablehlo.return %0 : tensor<f32>
      }, {
        stablehlo.return %0 : tensor<f32>
      }) : (tensor<i1>) -> tensor<f32>
      return
    }"""
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        order = ProgramOrder(module.body.operations[0].regions[0].blocks[0])
        order.add(1, 0)
        with pytest.raises(Cycle) as caught:
            order.sort()
        assert sorted(op.name for op in caught.value.ops) == [
            "stablehlo.custom_call",
            "stablehlo.if",
        ]


def test_the_cycle_found_is_one():
    with make_context(), ir.Location.unknown():
        module, block = block_of([[], [0], [1], [], [2], [4]])
        order = ProgramOrder(block)
        order.add_chain([[3], [4], [1]])
        with pytest.raises(Cycle) as caught:
            order.sort()
        found = [
            int(ir.StringAttr(op.attributes["call_target_name"]).value[2:])
            for op in caught.value.ops
        ]
        rotated = found[found.index(1) :] + found[: found.index(1)]
        assert rotated == [1, 2, 4]
        assert module.operation.verify()


def test_an_operation_in_two_neighbouring_groups_does_not_wait_for_itself():
    with make_context(), ir.Location.unknown():
        _module, block = block_of([[], [], []])
        order = ProgramOrder(block)
        order.add_chain([[2], [2, 1], [1, 0]])
        assert order.sort()
        assert order_of(block) == [2, 1, 0]
