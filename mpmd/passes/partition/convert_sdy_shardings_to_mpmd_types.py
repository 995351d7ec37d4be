"""mpmd-convert-sdy-shardings-to-mpmd-types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import mesh_tensor_type, read_mesh_tensor
from mpmd.dialect.fragment import CALL, REGION
from mpmd.dialect.functions import (
    argument_attributes,
    entry_block,
    set_argument_attributes,
    update_function_type,
)
from mpmd.dialect.shardings import (
    IN,
    OUT,
    SHARDING,
    read_shardings,
    sharding_text,
    transfer_sharding,
)
from mpmd.passes.base import FunctionPass


@dataclass(frozen=True)
class ConvertSdyShardingsToMpmdTypes(FunctionPass):
    """Moves shardings from attributes into the types of mesh tensors.

    From here on a value's type says all about where it is:

        %0 = mpmd.fragment<mesh="m", in_shardings=[<@mesh, [{"x"}]>], out_shardings=[...]> (%arg0)
        ~~>
        %0 = mpmd.fragment<mesh="m"> (%arg0) : (!mpmd.mesh_tensor<"m", ..., sharding=...>) -> ...

    The sharding of an argument, or what the producer of a value says, decides; where that is
    nothing, the value is split as the fragments that take it ask. The shardings that propagation
    left on the operations of a body are dropped, constraints stay. The functions of fragment calls
    are left to `mpmd-specialize-fragment-functions`.
    """

    name: ClassVar[str] = "mpmd-convert-sdy-shardings-to-mpmd-types"

    def run_on_function(self, func: ir.Operation) -> None:
        _Conversion(func).run()


@dataclass
class _Conversion:
    func: ir.Operation
    asked: bool = False
    """Whether any fragment asks for a sharding of what it takes."""
    types: dict[tuple[ir.Type, ir.Attribute], ir.Type] = field(default_factory=dict)

    def run(self) -> None:
        block = entry_block(self.func)
        self.asked = any(IN in op.operation.attributes for op in block.operations)
        self.convert_arguments(block)
        for op in block.operations:
            operation = op.operation
            name = operation.name
            if name in (CALL, REGION):
                self.convert_results(operation)
                if name == REGION:
                    _strip(operation)
            elif name == "mpmd.transfer":
                self.convert(operation.results, [transfer_sharding(operation)])
            if SHARDING in operation.attributes:
                del operation.attributes[SHARDING]
        self.drop_boundary_attributes()
        update_function_type(self.func)

    def convert_arguments(self, block: ir.Block) -> None:
        attributes = argument_attributes(self.func)
        for argument, own in zip(block.arguments, attributes, strict=True):
            self.convert([argument], [own.get(SHARDING)])

    def convert_results(self, fragment: ir.Operation) -> None:
        results, shardings = fragment.results, read_shardings(fragment, OUT)
        if shardings or self.asked:
            self.convert(results, shardings or [None] * len(results))
        for name in (IN, OUT):
            if name in fragment.attributes:
                del fragment.attributes[name]

    def convert(self, values: Sequence[ir.Value], shardings: Sequence[ir.Attribute | None]) -> None:
        """Sets the types of `values`; where no sharding is known, users decide."""
        for value, own in zip(values, shardings, strict=True):
            sharding = own or (_wanted_by_users(value) if self.asked else None)
            if sharding is None:
                continue
            key = (value.type, sharding)
            new = self.types.get(key)
            if new is None:
                new = self.types[key] = _with_sharding(value.type, sharding)
            value.set_type(new)

    def drop_boundary_attributes(self) -> None:
        for name in ("arg_attrs", "res_attrs"):
            attributes = argument_attributes(self.func, name)
            if any(SHARDING in each for each in attributes):
                for each in attributes:
                    each.pop(SHARDING, None)
                set_argument_attributes(self.func, attributes, name)


def _wanted_by_users(value: ir.Value) -> ir.Attribute | None:
    """Returns what the last fragment that takes `value` asks for; uses come last to first."""
    for use in value.uses:
        shardings = read_shardings(use.owner.operation, IN)
        if shardings:
            return shardings[use.operand_number]
    return None


def _with_sharding(type_: ir.Type, sharding: ir.Attribute) -> ir.Type:
    parts = read_mesh_tensor(type_)
    assert parts is not None, f"{type_} is no mesh tensor"
    return mesh_tensor_type(parts.mesh, parts.tensor, sharding_text(sharding), parts.memory_kind)


def _strip(fragment: ir.Operation) -> None:
    def visit(op: ir.Operation) -> ir.WalkResult:
        if SHARDING in op.attributes:
            del op.attributes[SHARDING]
        return ir.WalkResult.ADVANCE

    fragment.walk(visit)
