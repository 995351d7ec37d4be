"""What a function takes and returns once its values have meshes: one value for every mesh."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import is_mesh_tensor
from mpmd.dialect.functions import topology_of
from mpmd.passes.import_._mesh_graph import Function
from mpmd.passes.import_._mesh_sets import (
    USE_SET,
    Meshes,
    argument_dictionaries,
    names,
    read_all,
    read_from,
)


@dataclass(frozen=True)
class Signature:
    """The meshes on which a function takes its arguments and returns its results.

    Empty for values that keep their type: they have a mesh, or belong to the entry point.
    """

    arguments: list[list[str]]
    results: list[list[str]]


def signature_of(function: Function) -> Signature:
    """Returns the meshes of what `function` takes and returns, from its use sets."""
    op, body = function.op, function.body
    default = [min(topology_of(op))]
    needed = _use_sets(function)

    def plain(value: int) -> bool:
        return not is_mesh_tensor(function.values[value].type)

    # A function that nothing calls takes what it takes, like the entry point.
    splits = bool(function.callers) and not function.is_entry
    arguments = [
        sorted(names(needed.get(value, ()))) or default if splits and plain(value) else []
        for value in body.arguments
    ]
    if function.is_entry:
        return Signature(arguments, [[] for _ in body.returned])
    results = [
        # What no call uses is returned from where it is.
        names(meshes or ()) or sorted(names(needed.get(value, ())))[:1] or default
        if plain(value)
        else []
        for value, meshes in zip(
            body.returned, read_all(op, "res_attrs", USE_SET, len(body.returned)), strict=True
        )
    ]
    return Signature(arguments, results)


def _use_sets(function: Function) -> dict[int, Meshes]:
    arguments = function.body.arguments
    sets = read_all(function.op, "arg_attrs", USE_SET, len(arguments))
    found = dict(zip(arguments, sets, strict=True))
    for node in function.nodes():
        if node.carries_sets:
            found.update(dict.fromkeys(node.results, read_from(node.op, USE_SET)))
    return {value: meshes for value, meshes in found.items() if meshes is not None}


def copies_last(values: Sequence[Sequence[Any]]) -> list[Any]:
    """Returns the first of each group, then the further ones."""
    return [each[0] for each in values] + [value for each in values for value in each[1:]]


def copy_numbers(meshes: Sequence[Sequence[str]]) -> list[list[int]]:
    """Returns where the further values of each group are, if they come last."""
    free = itertools.count(len(meshes))
    return [[next(free) for _ in each[1:]] for each in meshes]


def note_copies(op: ir.Operation, where: str, copies: Sequence[Sequence[int]]) -> None:
    """Notes with a value of `op`, in its `arg_attrs` or `res_attrs`, the numbers of its copies."""
    if any(copies):
        found = argument_dictionaries(op, where, len(copies))
        for dictionary, numbers in zip(found, copies, strict=True):
            if numbers:
                dictionary["mpmd.copies"] = ir.DenseI64ArrayAttr.get(numbers)
        found.extend({} for numbers in copies for _ in numbers)
        op.attributes[where] = ir.ArrayAttr.get([ir.DictAttr.get(each) for each in found])
