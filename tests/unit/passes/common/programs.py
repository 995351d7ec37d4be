"""Small random MPMD programs, and what they compute."""

import random

import numpy as np

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import mesh_of
from mpmd.dialect.functions import callee_name, entry_block, functions, symbol_name, terminator

TENSOR = "tensor<f64>"
LABELS = ('["f"]', '["f"(1)]', '["g"]', "[]", "[]")


def mesh_tensor(mesh: int) -> str:
    return f'!mpmd.mesh_tensor<"m{mesh}", {TENSOR}>'


class ProgramWriter:
    """Writes one function of fragments and transfers between scalars on a few meshes."""

    def __init__(self, seed: int, meshes: int = 3) -> None:
        self.random = random.Random(seed)
        self.meshes = meshes
        self.values: list[tuple[str, int]] = [(f"%arg{mesh}", mesh) for mesh in range(meshes)]
        self.lines: list[str] = []

    def function(self, count: int) -> str:
        """Returns a program of about `count` operations."""
        for number in range(count):
            if self.random.random() < 0.3:
                self.transfer(number)
            else:
                self.fragment(number)
        returned = [self.random.choice(self.values[-6:]) for _ in range(3)]
        arguments = ", ".join(f"%arg{mesh}: {mesh_tensor(mesh)}" for mesh in range(self.meshes))
        types = ", ".join(mesh_tensor(mesh) for _, mesh in returned)
        topology = ", ".join(f'<"m{mesh}": <["x"=1]>>' for mesh in range(self.meshes))
        lines = "\n".join(self.lines)
        return f"""func.func @main({arguments}) -> ({types})
    attributes {{topology = #mpmd.topology<{topology}>}} {{
{lines}
  return {", ".join(name for name, _ in returned)} : {types}
}}
"""

    def transfer(self, number: int) -> None:
        value, source = self.random.choice(self.values[-5:])
        target = self.random.randrange(self.meshes)
        types = f"({mesh_tensor(source)}) -> {mesh_tensor(target)}"
        self.lines.append(f"  %t{number} = mpmd.transfer {value} : {types}")
        self.values.append((f"%t{number}", target))

    def fragment(self, number: int) -> None:
        mesh = self.random.randrange(self.meshes)
        choices = [value for value, where in self.values if where == mesh][-4:]
        operands = [self.random.choice(choices) for _ in range(self.random.randint(0, 3))]
        local = [f"%x{number}_{i}" for i in range(len(operands))]
        arguments = ", ".join(f"{name}: {TENSOR}" for name in local)
        body = [f"    %c{number} = stablehlo.constant dense<{number}.5> : {TENSOR}"]
        local.append(f"%c{number}")
        for i in range(self.random.randint(0, 3)):
            op = self.random.choice(("add", "multiply", "subtract"))
            left, right = self.random.choice(local), self.random.choice(local)
            body.append(f"    %y{number}_{i} = stablehlo.{op} {left}, {right} : {TENSOR}")
            local.append(f"%y{number}_{i}")
        results = [self.random.choice(local[-3:]) for _ in range(self.random.randint(1, 3))]
        body.append(f"    mpmd.return {', '.join(results)} : {', '.join([TENSOR] * len(results))}")
        counter = self.random.choice(("", " {call_counter = 0 : ui32}"))
        inputs = ", ".join([mesh_tensor(mesh)] * len(operands))
        outputs = ", ".join([mesh_tensor(mesh)] * len(results))
        origin = self.random.choice(LABELS)
        self.lines.append(
            f'  %f{number}:{len(results)} = mpmd.fragment<mesh="m{mesh}", '
            f"origin={origin}> ({', '.join(operands)}){counter} ({arguments}) {{"
        )
        self.lines += [*body, f"  }} : ({inputs}) -> ({outputs})"]
        self.values += [(f"%f{number}#{i}", mesh) for i in range(len(results))]


def random_program(seed: int) -> str:
    """Returns the text of a random program."""
    return ProgramWriter(seed).function(3 + seed % 12)


# --- what a program computes ---------------------------------------------------------------------


def _slice(op, value):
    starts, limits = (
        list(ir.DenseI64ArrayAttr(op.attributes[name]))
        for name in ("start_indices", "limit_indices")
    )
    return value[tuple(map(slice, starts, limits))]


OPERATIONS = {
    "stablehlo.add": lambda op, a, b: a + b,
    "stablehlo.multiply": lambda op, a, b: a * b,
    "stablehlo.subtract": lambda op, a, b: a - b,
    "stablehlo.reshape": lambda op, a: a.reshape(ir.RankedTensorType(op.results[0].type).shape),
    "stablehlo.concatenate": lambda op, *values: np.concatenate(values),
    "stablehlo.slice": _slice,
    "mpmd.transfer": lambda op, a: a,
}


def evaluate(module: ir.Module, arguments: list[float], name: str = "main") -> list[float]:
    """Returns what function `name` returns for `arguments`."""
    bodies = {symbol_name(func): func for func in functions(module.operation)}

    def run(block, inputs):
        values = dict(zip(block.arguments, inputs, strict=True))
        for op in list(block.operations)[:-1]:
            operation = op.operation
            operands = [values[value] for value in operation.operands]
            if operation.name in ("mpmd.fragment", "mpmd.named_computation"):
                made = run(operation.regions[0].blocks[0], operands)
            elif operation.name in ("mpmd.fragment_call", "mpmd.call"):
                made = run(entry_block(bodies[callee_name(operation)]), operands)
            elif operation.name == "stablehlo.constant":
                constant = ir.DenseElementsAttr(operation.attributes["value"])
                shape = ir.RankedTensorType(operation.results[0].type).shape
                splat = ir.FloatAttr(constant.get_splat_value()).value
                made = [np.full(shape, splat)]
            else:
                made = [OPERATIONS[operation.name](operation, *operands)]
            values.update(zip(operation.results, made, strict=True))
        return [values[value] for value in terminator(block).operands]

    returned = run(entry_block(bodies[name]), [np.asarray(each) for each in arguments])
    return [each.tolist() for each in returned]


def count(module: ir.Module, *names: str) -> int:
    """Returns how many operations of these names stand at the top level of functions."""
    return sum(
        op.operation.name in names
        for func in functions(module.operation)
        for op in entry_block(func).operations
    )


def meshes_of_results(module: ir.Module) -> list[str | None]:
    """Returns where the results of `main` are."""
    main = next(f for f in functions(module.operation) if symbol_name(f) == "main")
    return [mesh_of(value) for value in terminator(entry_block(main)).operands]
