"""Donation on random programs: nothing that is still needed is consumed."""

import random

import pytest

from mpmd.dialect._jaxlib import ir, make_context
from mpmd.passes.export.mark_aliasing_and_donation import MarkAliasingAndDonation
from mpmd.passes.runner import run_passes

TYPES = ["tensor<4xf32>", "tensor<8xf32>"]
MESHES = ["m0", "m1"]


def mesh_tensor(mesh, tensor):
    return f'!mpmd.mesh_tensor<"{mesh}", {tensor}>'


def random_program(rng):
    """Returns the text of a function of random fragments and transfers."""
    values = []
    arguments = []
    for number in range(rng.randint(1, 4)):
        mesh, tensor = rng.choice(MESHES), rng.choice(TYPES)
        donated = " {jax.buffer_donor = true}" if rng.random() < 0.5 else ""
        arguments.append(f"%a{number}: {mesh_tensor(mesh, tensor)}{donated}")
        values.append((f"%a{number}", mesh, tensor))
    lines = []
    for number in range(rng.randint(1, 12)):
        if rng.random() < 0.3:
            value, mesh, tensor = rng.choice(values)
            target = MESHES[1 - MESHES.index(mesh)]
            lines.append(
                f"%t{number} = mpmd.transfer {value}"
                f" : ({mesh_tensor(mesh, tensor)}) -> {mesh_tensor(target, tensor)}"
            )
            values.append((f"%t{number}", target, tensor))
            continue
        mesh = rng.choice(values)[1]
        mine = [value for value in values if value[1] == mesh]
        taken = rng.sample(mine, rng.randint(1, len(mine)))
        made = [rng.choice(TYPES) for _ in range(rng.randint(1, 3))]
        inner = ", ".join(f"%x{i}: {tensor}" for i, (_, _, tensor) in enumerate(taken))
        body = "\n".join(
            f"%r{i} = stablehlo.constant dense<{number}.0> : {tensor}"
            for i, tensor in enumerate(made)
        )
        lines.append(
            f'%f{number}:{len(made)} = mpmd.fragment<mesh="{mesh}", origin=["f"]>'
            f" ({', '.join(value for value, _, _ in taken)}) ({inner}) {{\n{body}\n"
            f"mpmd.return {', '.join(f'%r{i}' for i in range(len(made)))} : {', '.join(made)}\n}}"
            f" : ({', '.join(mesh_tensor(mesh, tensor) for _, _, tensor in taken)})"
            f" -> ({', '.join(mesh_tensor(mesh, tensor) for tensor in made)})"
        )
        values += [(f"%f{number}#{i}", mesh, tensor) for i, tensor in enumerate(made)]
    returned = rng.sample(values, rng.randint(1, min(3, len(values))))
    types = ", ".join(mesh_tensor(mesh, tensor) for _, mesh, tensor in returned)
    return (
        f"func.func @main({', '.join(arguments)}) -> ({types}) attributes"
        ' {topology = #mpmd.topology<<"m0": <["x"=2]>>, <"m1": <["x"=2]>>>} {\n'
        + "\n".join(lines)
        + f"\nreturn {', '.join(value for value, _, _ in returned)} : {types}\n}}"
    )


def attributes_of(op, count):
    if "arg_attrs" not in op.attributes:
        return [{}] * count
    dictionaries = [ir.DictAttr(each) for each in ir.ArrayAttr(op.attributes["arg_attrs"])]
    return [{each[i].name: each[i].attr for i in range(len(each))} for each in dictionaries]


@pytest.mark.parametrize("seed", range(40))
def test_nothing_needed_is_consumed(seed):
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(random_program(random.Random(seed)))
        run_passes(module.operation, [MarkAliasingAndDonation()])
        func = module.body.operations[0].operation
        block = func.regions[0].blocks[0]
        kept = {
            argument
            for argument, attributes in zip(
                block.arguments, attributes_of(func, len(block.arguments)), strict=True
            )
            if "jax.buffer_donor" not in attributes
        }
        consumed = set()
        for each in block.operations:
            op = each.operation
            operands = list(op.operands)
            assert consumed.isdisjoint(operands), "a consumed value is used"
            if op.name != "mpmd.fragment":
                kept.update(operands)
                continue
            aliased = []
            for operand, attributes in zip(operands, attributes_of(op, len(operands)), strict=True):
                if not attributes:
                    continue
                assert operand not in kept, "the user's or a transferred value is consumed"
                consumed.add(operand)
                if "tf.aliasing_output" in attributes:
                    result = ir.IntegerAttr(attributes["tf.aliasing_output"]).value
                    assert op.results[result].type == operand.type
                    aliased.append(result)
            assert len(aliased) == len(set(aliased))
        # What fragments made and only fragments use is consumed by the last of them.
        for each in block.operations:
            if each.operation.name == "mpmd.fragment":
                for result in each.operation.results:
                    users = [use.owner.operation.name for use in result.uses]
                    only_fragments = bool(users) and set(users) == {"mpmd.fragment"}
                    assert (result in consumed) == only_fragments
