"""mpmd-specialize-fragment-functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.fragment import Bodies, fragments
from mpmd.dialect.functions import (
    argument_attributes,
    callee_name,
    entry_block,
    functions,
    is_mpmd_function,
    set_argument_attributes,
)
from mpmd.dialect.shardings import SHARDING, equivalent, sharding_of_type
from mpmd.passes.base import Pass

Types = tuple[ir.Type, ...]


@dataclass(frozen=True)
class SpecializeFragmentFunctions(Pass):
    """Puts the shardings of fragment calls on the boundaries of the functions they name.

    A function can then be compiled on its own, and it is clear from it alone how its arguments and
    results are split:

        fragment_call<mesh="m"> @f(%0) : (!mpmd.mesh_tensor<"m", ..., sharding=<@mesh, [{"x"}]>>)
        func.func private @f(%arg0: tensor<4xf32>)
        ~~>
        func.func private @f(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})

    What has no sharding is replicated. The first call of a function decides what the function
    becomes; calls that differ from it share a copy per combination of shardings.
    """

    name: ClassVar[str] = "mpmd-specialize-fragment-functions"

    def run(self, module: ir.Operation) -> None:
        specializer = _Specializer(Bodies(module))
        for func in functions(module):
            if is_mpmd_function(func):
                for fragment in fragments(entry_block(func)):
                    if fragment.is_call:
                        specializer.specialize(fragment.op)


@dataclass
class _Specializer:
    bodies: Bodies
    _by_types: dict[tuple[str, Types, Types], str] = field(default_factory=dict)
    _by_shardings: dict[tuple[object, ...], str] = field(default_factory=dict)
    _taken: set[str] = field(default_factory=set)

    def specialize(self, call: ir.Operation) -> None:
        """Makes `call` name the function for the types of its operands and results."""
        callee = callee_name(call)
        inputs = tuple(value.type for value in call.operands)
        results = tuple(value.type for value in call.results)
        key = (callee, inputs, results)
        name = self._by_types.get(key)
        if name is None:
            name = self._by_types[key] = self._function(callee, inputs, results)
        if name != callee:
            call.attributes["callee"] = ir.FlatSymbolRefAttr.get(name)

    def _function(self, callee: str, inputs: Types, results: Types) -> str:
        """Returns the function for these shardings; types can differ in mesh or memory alone."""
        arguments = [_splitting(each) for each in inputs]
        returned = [_splitting(each) for each in results]
        key = (callee, *map(str, arguments), "->", *map(str, returned))
        name = self._by_shardings.get(key)
        if name is None:
            name = self._by_shardings[key] = self._make(callee, arguments, returned)
        return name

    def _make(
        self,
        callee: str,
        arguments: Sequence[ir.Attribute | None],
        returned: Sequence[ir.Attribute | None],
    ) -> str:
        name = callee if callee not in self._taken else self.bodies.copy_function(callee)
        self._taken.add(callee)
        function = self.bodies.function(name)
        set_argument_attributes(function, _attributes(function, "arg_attrs", arguments))
        set_argument_attributes(function, _attributes(function, "res_attrs", returned), "res_attrs")
        return name


def _splitting(type_: ir.Type) -> ir.Attribute | None:
    """Returns the sharding in a type, or None where it amounts to replication."""
    sharding = sharding_of_type(type_)
    return None if equivalent(sharding, None) else sharding


def _attributes(
    function: ir.Operation, name: str, shardings: Sequence[ir.Attribute | None]
) -> list[dict[str, ir.Attribute]]:
    attributes = argument_attributes(function, name)
    for each, sharding in zip(attributes, shardings, strict=True):
        each.pop(SHARDING, None)
        if sharding is not None:
            each[SHARDING] = sharding
    return attributes
