"""Builds small IFRT programs as text, in the generic form that every jaxlib reads."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Value:
    """An SSA value and its type."""

    name: str
    type: str


def array(shape: str, devices, sharding: str | None = None, memory_kind: str | None = None) -> str:
    """Returns an array type; `shape` such as "8xf32"; without a sharding it is replicated."""
    rank = shape.count("x") if shape[0].isdigit() else 0
    devices = list(devices)
    if sharding is None:
        sharding = f"{'x'.join(['1'] * rank)} to [0] on {len(devices)}"
    memory = f', memory_kind = "{memory_kind}"' if memory_kind else ""
    return f"!ifrt.array<tensor<{shape}>, #ifrt.sharding_param<{sharding}>, {devices}{memory}>"


def on_first(shape: str, devices) -> str:
    """Returns an array type that is cut along its first dimension over all devices."""
    rank, count = shape.count("x"), len(list(devices))
    dims = "x".join([str(count), *["1"] * (rank - 1)])
    return array(shape, devices, f"{dims} to [0] on {count}")


@dataclass
class ProgramText:
    """Collects the operations of a program; `text(...)` closes it."""

    arguments: list[tuple[Value, bool]] = field(default_factory=list)
    body: list[str] = field(default_factory=list)
    modules: dict[str, str] = field(default_factory=dict)
    count: int = 0

    def argument(self, type: str, donated: bool = False) -> Value:
        value = Value(f"%arg{len(self.arguments)}", type)
        self.arguments.append((value, donated))
        return value

    def module(self, name: str, body: str) -> str:
        """Adds a fragment; `body` is what stands between the braces of its module."""
        self.modules[name] = body
        return f"@{name}::@main"

    def call(self, callee, inputs, outputs, devices, *, donated=(), aliases=(), mesh=None):
        pairs = ", ".join(f"array<i32: {a}, {b}>" for a, b in aliases)
        indices = f"array<i32: {', '.join(map(str, donated))}>" if donated else "array<i32>"
        properties = (
            f"callee = {callee}, devices = #ifrt<devices{list(devices)}>, donated_input_indices = "
            f"{indices}, io_aliases = [{pairs}], operandSegmentSizes = array<i32: {len(inputs)}, 0>"
        )
        attributes = f' {{ifrt.mesh_name = "{mesh}"}}' if mesh else ""
        return self._operation("ifrt.Call", properties, attributes, inputs, outputs)

    def copy(self, inputs, outputs):
        properties = f"operandSegmentSizes = array<i32: {len(inputs)}, 0>"
        return self._operation("ifrt.CopyArrays", properties, "", inputs, outputs)

    def reshard(self, inputs, outputs):
        properties = f"operandSegmentSizes = array<i32: {len(inputs)}, 0>"
        return self._operation("ifrt.Reshard", properties, "", inputs, outputs)

    def text(self, *results: Value) -> str:
        types = ", ".join(value.type for value, _ in self.arguments)
        outputs = ", ".join(value.type for value in results)
        attributes = ", ".join(
            "{ifrt.donated}" if donated else "{}" for _, donated in self.arguments
        )
        arguments = ", ".join(f"{value.name}: {value.type}" for value, _ in self.arguments)
        returned = ", ".join(value.name for value in results)
        lines = "\n".join(self.body)
        modules = "\n".join(
            f'"builtin.module"() <{{sym_name = "{name}"}}> ({{\n{body}\n}}) : () -> ()'
            for name, body in self.modules.items()
        )
        return f""""builtin.module"() ({{
"func.func"() <{{arg_attrs = [{attributes}], function_type = ({types}) -> ({outputs}),
  sym_name = "main", sym_visibility = "public"}}> ({{
^bb0({arguments}):
{lines}
"func.return"({returned}) : ({outputs}) -> ()
}}) {{ifrt.function}} : () -> ()
{modules}
}}) : () -> ()
"""

    def _operation(self, name, properties, attributes, inputs, outputs):
        number = self.count
        self.count += 1
        types = ", ".join([*outputs, "!ifrt.control"])
        operands = ", ".join(value.name for value in inputs)
        operand_types = ", ".join(value.type for value in inputs)
        self.body.append(
            f'%v{number}:{len(outputs) + 1} = "{name}"({operands}) <{{{properties}}}>{attributes} '
            f": ({operand_types}) -> ({types})"
        )
        return [Value(f"%v{number}#{index}", type) for index, type in enumerate(outputs)]


def function(arguments: str, results: str, body: str) -> str:
    """Returns a public function main in pretty form."""
    return f"func.func public @main({arguments}) -> ({results}) {{\n{body}\n}}"


def affine(shape: str, scale: float, shift: float = 0.0) -> str:
    """Returns the body of a fragment that computes x * scale + shift."""
    tensor = f"tensor<{shape}>"
    return function(
        f"%x: {tensor}",
        tensor,
        f"%s = stablehlo.constant dense<{scale:e}> : {tensor}\n"
        f"%t = stablehlo.constant dense<{shift:e}> : {tensor}\n"
        f"%0 = stablehlo.multiply %x, %s : {tensor}\n"
        f"%1 = stablehlo.add %0, %t : {tensor}\n"
        f"return %1 : {tensor}",
    )


def mean_plus_one(size: int) -> str:
    """Returns the body of a fragment that needs all devices: every element is mean(x) + 1."""
    tensor = f"tensor<{size}xf32>"
    return function(
        f"%x: {tensor}",
        tensor,
        "%zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
        f"%n = stablehlo.constant dense<{float(size):e}> : tensor<f32>\n"
        "%one = stablehlo.constant dense<1.0> : tensor<f32>\n"
        "%sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : "
        f"({tensor}, tensor<f32>) -> tensor<f32>\n"
        "%mean = stablehlo.divide %sum, %n : tensor<f32>\n"
        "%next = stablehlo.add %mean, %one : tensor<f32>\n"
        f"%all = stablehlo.broadcast_in_dim %next, dims = [] : (tensor<f32>) -> {tensor}\n"
        f"return %all : {tensor}",
    )
