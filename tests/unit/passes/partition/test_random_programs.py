"""What must hold of every program after propagation, on random ones of both forms."""

import random

import pytest

from mpmd.dialect._jaxlib import ir, make_context
from mpmd.dialect.functions import entry_block, function_type, functions, symbol_name
from mpmd.dialect.shardings import equivalent, sharding_of_type
from mpmd.passes.runner import run_passes
from mpmd.passes.text import parse_pipeline

TENSOR = "tensor<8x8xf32>"
SHARDINGS = [
    f"[{{{a}}}, {{{b}}}]" for a, b in (("", '"x"'), ('"x"', ""), ('"y"', ""), ('"y"', '"x"'))
]


def mesh_tensor(mesh):
    return f'!mpmd.mesh_tensor<"m{mesh}", {TENSOR}>'


class Program:
    """Microbatches over two meshes: fragments and transfers, the same ones for each."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.arguments = [self.random.randint(1, 2) for _ in range(4)]
        self.given = [self.maybe_sharding() for _ in self.arguments]
        self.steps = [self.step(number) for number in range(5)]
        self.results = [self.maybe_sharding() for _ in range(2)]

    def maybe_sharding(self):
        return self.random.choice([None, *SHARDINGS])

    def step(self, number):
        """Returns a choice of operation and operands that can be made for each microbatch."""
        return (
            self.random.random(),
            [self.random.random() for _ in range(3)],
            self.random.choice(["add", "dot", "constraint"]),
            self.random.choice(SHARDINGS),
            self.random.randint(1, 2),
        )

    def text(self, microbatches=2):
        lines, last = [], []
        for microbatch in range(microbatches):
            values = [(f"%arg{i}", mesh) for i, mesh in enumerate(self.arguments)] + last
            made = []
            for number, step in enumerate(self.steps):
                made.append(self.emit(lines, f"%v{microbatch}_{number}", microbatch, values, step))
                values.append(made[-1])
            last = last or made
        returned = made[-2:]
        arguments = ", ".join(
            f"%arg{i}: {mesh_tensor(mesh)}{attribute(self.given[i])}"
            for i, mesh in enumerate(self.arguments)
        )
        types = [mesh_tensor(mesh) for _, mesh in returned]
        results = ", ".join(t + attribute(s) for t, s in zip(types, self.results, strict=True))
        shape = '<["x"=2, "y"=2]>'
        return (
            f"sdy.mesh @mesh = {shape}\nfunc.func @main({arguments}) -> ({results}) attributes "
            f'{{topology = #mpmd.topology<<"m1": {shape}>, <"m2": {shape}>>}} {{\n'
            + "\n".join(lines)
            + f"\nreturn {', '.join(v for v, _ in returned)} : {', '.join(types)}\n}}"
        )

    def emit(self, lines, name, microbatch, values, step):
        kind, picks, op, sharding, mesh = step
        local = [value for value in values if value[1] == mesh]
        if kind < 0.3 or not local:
            value, source = values[int(picks[0] * len(values))]
            types = f"({mesh_tensor(source)}) -> {mesh_tensor(3 - source)}"
            lines.append(f"{name} = mpmd.transfer {value} : {types}")
            return name, 3 - source
        taken = [local[int(pick * len(local))][0] for pick in picks[:2]]
        body = {
            "add": f"stablehlo.add %a, %b : {TENSOR}",
            "dot": f"stablehlo.dot %a, %b : ({TENSOR}, {TENSOR}) -> {TENSOR}",
            "constraint": f"sdy.sharding_constraint %a <@mesh, {sharding}> : {TENSOR}",
        }[op]
        type_ = mesh_tensor(mesh)
        lines.append(
            f'{name} = mpmd.fragment<mesh="m{mesh}", origin=["f"]> ({", ".join(taken)}) '
            f"{{call_counter = {microbatch} : ui32}} (%a: {TENSOR}, %b: {TENSOR}) {{\n"
            f"%c = {body}\nmpmd.return %c : {TENSOR}\n}} : ({type_}, {type_}) -> {type_}"
        )
        return name, mesh


def attribute(sharding):
    return "" if sharding is None else f" {{sdy.sharding = #sdy.sharding<@mesh, {sharding}>}}"


@pytest.mark.parametrize("pipeline", ["", "mpmd-outline-fragments,"])
@pytest.mark.parametrize("seed", range(12))
def test_users_win_and_transfers_only_copy(seed, pipeline):
    program = Program(seed)
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(program.text())
        passes = parse_pipeline(pipeline + "mpmd-sharding-propagation-pipeline")
        run_passes(module.operation, passes)
        assert module.operation.verify()
        main = next(f for f in functions(module.operation) if symbol_name(f) == "main")
        type_ = function_type(main)
        for given, found in (
            *zip(program.given, type_.inputs, strict=True),
            *zip(program.results, type_.results, strict=True),
        ):
            if given is not None:
                expected = ir.Attribute.parse(f"#sdy.sharding<@mesh, {given}>")
                assert equivalent(sharding_of_type(found), expected)
        for op in entry_block(main).operations:
            if op.operation.name == "mpmd.transfer":
                source, target = op.operands[0].type, op.results[0].type
                assert equivalent(sharding_of_type(source), sharding_of_type(target))
