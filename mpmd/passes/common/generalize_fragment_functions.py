"""The pass `mpmd-generalize-fragment-functions`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.fragment import CALL, Bodies
from mpmd.dialect.functions import (
    argument_attributes,
    callee_name,
    entry_block,
    functions,
    is_mpmd_function,
    is_private,
)
from mpmd.passes.base import Pass

_ARGUMENT = re.compile(r"%arg(\d+)")
PER_VALUE = ("arg_attrs", "res_attrs")
"""Attributes of a fragment that list attributes of its operands and results."""


@dataclass(frozen=True)
class GeneralizeFragmentFunctions(Pass):
    """Calls the general form of a body where a special one differs in its arguments only.

    Merging wires equal operands together: a first microbatch that adds its gradients to one zero
    gets another function than the others, which add to different sums. It is the same program
    with arguments repeated, or in another order, and need not be compiled again:

        %1:2 = fragment_call @f_0(%x, %zero)               func @f_0(%x, %s)
        %2:2 = fragment_call @f(%y, %1#0, %1#1)            func @f(%x, %s, %t)
        ~~>
        %1:2 = fragment_call @f(%x, %zero, %zero)

    Looks at fragment calls of private functions without attributes of their own on operands and
    results. Never changes a body.
    """

    name: ClassVar[str] = "mpmd-generalize-fragment-functions"

    def run(self, module: ir.Operation) -> None:
        bodies = Bodies(module)
        calls = _calls(module)
        general: dict[str, list[_Body]] = {}
        changed = False
        found = [_Body(name, bodies.function(name)) for name in calls]
        # Stable, the most general first: of equals the one that is called first stays.
        for body in sorted(found, key=lambda each: -len(each.arguments)):
            for other in general.setdefault(body.masked, []):
                numbers = other.arguments_for(body)
                if numbers is not None:
                    for call in calls[body.name]:
                        _redirect(call, other.name, numbers)
                    changed = True
                    break
            else:
                general[body.masked].append(body)
        if changed:
            bodies.remember("generalized", True)
            bodies.erase_unused()


def _calls(module: ir.Operation) -> dict[str, list[ir.Operation]]:
    """Returns function -> its fragment calls, of the functions that may be exchanged."""
    calls: dict[str, list[ir.Operation]] = {}
    fixed: set[str] = set()
    private = {}
    for func in functions(module):
        private[ir.StringAttr(func.attributes["sym_name"]).value] = is_private(func)
        if not is_mpmd_function(func):
            continue
        for op in entry_block(func).operations:
            if op.operation.name == CALL:
                name = callee_name(op.operation)
                calls.setdefault(name, []).append(op.operation)
                if any(_says_something(op.operation, key) for key in PER_VALUE):
                    fixed.add(name)
    return {name: ops for name, ops in calls.items() if private.get(name) and name not in fixed}


def _says_something(op: ir.Operation, name: str) -> bool:
    return name in op.attributes and any(len(each) for each in ir.ArrayAttr(op.attributes[name]))


class _Body:
    """A function's text with its arguments masked, and the order in which it uses them."""

    def __init__(self, name: str, func: ir.Operation) -> None:
        self.name = name
        text = func.get_asm(use_local_scope=True)
        text = text[text.index("{\n") :]
        shape = func.attributes["mesh_shape"] if "mesh_shape" in func.attributes else None
        results = [sorted(map(_item, each)) for each in _each(func, "res_attrs")]
        self.uses = [int(number) for number in _ARGUMENT.findall(text)]
        self.masked = f"{shape} {results} {_ARGUMENT.sub('%arg', text)}"
        block = entry_block(func)
        types = [str(argument.type) for argument in block.arguments]
        attributes = [sorted(map(_item, each)) for each in _each(func, "arg_attrs")]
        self.arguments = list(zip(types, attributes, strict=True))

    def arguments_for(self, special: _Body) -> list[int] | None:
        """Returns for each argument the one of `special` that it stands for; None if it differs.

        Both have the same masked text. Numbers past the arguments are those of nested blocks.
        """
        mapping: dict[int, int] = {}
        for mine, its in zip(self.uses, special.uses, strict=True):
            if mapping.setdefault(mine, its) != its:
                return None
        numbers = []
        for number, argument in enumerate(self.arguments):
            its = mapping.pop(number, len(special.arguments))
            if its >= len(special.arguments) or special.arguments[its] != argument:
                return None
            numbers.append(its)
        nested = [its - mine for mine, its in mapping.items()]
        shift = len(special.arguments) - len(self.arguments)
        return numbers if all(each == shift for each in nested) else None


def _each(func: ir.Operation, name: str) -> list[list[tuple[str, ir.Attribute]]]:
    return [list(each.items()) for each in argument_attributes(func, name)]


def _item(item: tuple[str, ir.Attribute]) -> str:
    return f"{item[0]}={item[1]}"


def _redirect(call: ir.Operation, callee: str, numbers: list[int]) -> None:
    """Makes `call` name a more general function, with operands to match."""
    operands = list(call.operands)
    attributes = {name: each for name, each in call.attributes.items() if name not in PER_VALUE}
    new = ir.Operation.create(
        CALL,
        results=[result.type for result in call.results],
        operands=[operands[number] for number in numbers],
        attributes={**attributes, "callee": ir.FlatSymbolRefAttr.get(callee)},
        ip=ir.InsertionPoint(call),
        loc=call.location,
    )
    for result, value in zip(call.results, new.results, strict=True):
        result.replace_all_uses_with(value)
    call.erase()
