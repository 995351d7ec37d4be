"""Reads an IFRT IR program into plain Python data.

The runtime works on this data alone, so that nothing of it depends on MLIR once a program is read.
Where jaxlib lacks the dialect, programs in generic form are still read, without its verifier.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mpmd.dialect._jaxlib import ir, load_ifrt, make_context
from mpmd.dialect.ifrt.spelling import respell
from mpmd.dialect.ifrt.types import ArrayType, IfrtError

CALL = "ifrt.Call"
COPY = "ifrt.CopyArrays"
RESHARD = "ifrt.Reshard"
CONTROL_TYPE = "!ifrt.control"


@dataclass(frozen=True)
class Call:
    """One execution of a fragment on one list of devices."""

    fragment: str
    devices: tuple[int, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    donated: tuple[int, ...]
    aliases: tuple[tuple[int, int], ...]
    mesh: str


@dataclass(frozen=True)
class Transfer:
    """A copy of arrays to other devices, with the same shards or (reshard) with other ones."""

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    reshard: bool


@dataclass(frozen=True)
class Fragment:
    """What calls execute: a module (the whole one for a callee beside main) and its entry."""

    name: str
    module: ir.Operation
    entry: str


@dataclass(frozen=True)
class Program:
    """An IFRT program. A value is a number: its arguments come first, then results in order."""

    name: str
    types: tuple[ArrayType, ...]
    num_arguments: int
    donated: tuple[bool, ...]
    steps: tuple[Call | Transfer, ...]
    results: tuple[int, ...]
    fragments: dict[str, Fragment] = field(compare=False)
    module: ir.Module = field(compare=False, repr=False)

    @property
    def num_devices(self) -> int:
        """One more than the largest device id of the program."""
        return 1 + max((device for array in self.types for device in array.devices), default=-1)


def make_ifrt_context() -> ir.Context:
    """Returns a context that reads IFRT programs: with the dialect if jaxlib has it."""
    context = make_context()
    if not load_ifrt(context):
        context.allow_unregistered_dialects = True
    return context


def read_program(source: str | bytes | ir.Module) -> Program:
    """Returns the IFRT program that text, bytecode or a module holds."""
    if not isinstance(source, ir.Module):
        source = _parse(source)
    return _Reader(source).read()


def _parse(source: str | bytes) -> ir.Module:
    context = make_ifrt_context()
    try:
        return ir.Module.parse(source, context)
    except (ir.MLIRError, UnicodeDecodeError) as error:
        message = str(error)
    if isinstance(source, str):
        other = respell(source, strict="strict properties" in message)
        if other != source:
            try:
                return ir.Module.parse(other, context)
            except ir.MLIRError:
                pass  # the message about the text as given is the one to show
    if context.allow_unregistered_dialects:
        message += "\n(this jaxlib has no ifrt dialect, and reads programs in generic form only)"
    raise IfrtError(f"not a readable IFRT program: {message}")


class _Reader:
    """Numbers the values of a module's IFRT function and reads its operations."""

    def __init__(self, module: ir.Module) -> None:
        self.module = module
        self.numbers: dict[ir.Value, int] = {}
        self.types: list[ArrayType] = []
        self.type_of_ir: dict[ir.Type, ArrayType | None] = {}
        self.fragments: dict[str, Fragment] = {}
        self.symbols = ir.SymbolTable(module.operation)

    def read(self) -> Program:
        function = self._entry()
        block = function.regions[0].blocks[0]
        for argument in block.arguments:
            self._number(argument)
        num_arguments = len(self.types)
        *body, terminator = (op.operation for op in block.operations)
        steps = tuple(self._step(op) for op in body)
        callees = dict.fromkeys(step.fragment for step in steps if isinstance(step, Call))
        return Program(
            name=ir.StringAttr(function.attributes["sym_name"]).value,
            types=tuple(self.types),
            num_arguments=num_arguments,
            donated=self._donated(function, num_arguments),
            steps=steps,
            results=tuple(self.numbers[value] for value in terminator.operands),
            fragments={callee: self.fragments[callee] for callee in callees},
            module=self.module,
        )

    def _entry(self) -> ir.Operation:
        functions = [op.operation for op in self.module.body if op.operation.name == "func.func"]
        entries = [op for op in functions if "ifrt.function" in op.attributes]
        if len(entries) != 1:
            raise IfrtError(
                f"expected one function with the attribute ifrt.function, found {len(entries)}"
            )
        if len(entries[0].regions[0].blocks) != 1:
            raise IfrtError("an IFRT function has exactly one block")
        return entries[0]

    def _number(self, value: ir.Value) -> int | None:
        """Returns a new number for an array; None for a control value."""
        kind = value.type
        if kind not in self.type_of_ir:
            text = str(kind)
            self.type_of_ir[kind] = None if text == CONTROL_TYPE else ArrayType.parse(text)
        array = self.type_of_ir[kind]
        if array is None:
            return None
        number = self.numbers[value] = len(self.types)
        self.types.append(array)
        return number

    def _donated(self, function: ir.Operation, count: int) -> tuple[bool, ...]:
        if "arg_attrs" not in function.attributes:
            return (False,) * count
        attributes = ir.ArrayAttr(function.attributes["arg_attrs"])
        return tuple("ifrt.donated" in ir.DictAttr(entry) for entry in attributes)

    def _step(self, op: ir.Operation) -> Call | Transfer:
        if op.name not in (CALL, COPY, RESHARD):
            raise IfrtError(
                f"{op.name} is not supported; a program may hold {CALL}, {COPY} and {RESHARD}"
            )
        # Control operands only restate the order of the program.
        inputs = tuple(self.numbers[value] for value in op.operands if value in self.numbers)
        numbers = (self._number(value) for value in op.results)
        outputs = tuple(number for number in numbers if number is not None)
        if op.name != CALL:
            return Transfer(inputs, outputs, reshard=op.name == RESHARD)
        attributes = op.attributes
        mesh = attributes["ifrt.mesh_name"] if "ifrt.mesh_name" in attributes else None
        devices = _integers(attributes["devices"])
        return Call(
            fragment=self._callee(attributes["callee"]),
            devices=devices,
            inputs=inputs,
            outputs=outputs,
            donated=_optional_integers(attributes, "donated_input_indices"),
            aliases=_aliases(attributes),
            mesh=ir.StringAttr(mesh).value if mesh else f"devices {list(devices)}",
        )

    def _callee(self, attribute: ir.Attribute) -> str:
        callee = str(attribute)
        if callee not in self.fragments:
            path = ir.SymbolRefAttr(attribute).value
            if len(path) > 2 or path[0] not in self.symbols:
                raise IfrtError(f"no fragment for the callee {callee}")
            found = self.symbols[path[0]].operation
            nested = len(path) == 2
            module = found if nested else self.module.operation
            if found.name != ("builtin.module" if nested else "func.func"):
                raise IfrtError(f"the callee {callee} is not a function")
            self.fragments[callee] = Fragment(path[0], module, path[-1])
        return callee


def _integers(attribute: ir.Attribute) -> tuple[int, ...]:
    """Returns the numbers of a device list, or of an array such as `array<i32: 0, 1>`."""
    text = str(attribute)
    if text.startswith("array<"):
        text = text.partition(":")[2]
    return tuple(int(number) for number in re.findall(r"\d+", text))


def _optional_integers(attributes: ir.OpAttributeMap, name: str) -> tuple[int, ...]:
    return _integers(attributes[name]) if name in attributes else ()


def _aliases(attributes: ir.OpAttributeMap) -> tuple[tuple[int, int], ...]:
    if "io_aliases" not in attributes:
        return ()
    pairs = [_integers(entry) for entry in ir.ArrayAttr(attributes["io_aliases"])]
    return tuple((pair[0], pair[1]) for pair in pairs)
