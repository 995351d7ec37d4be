"""Puts the function of each fragment program into a module of its own, ready for XLA."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mpmd.dialect._jaxlib import ir, sdy
from mpmd.dialect.attributes import read_mesh_tensor
from mpmd.dialect.functions import argument_attributes, set_argument_attributes, symbol_name
from mpmd.dialect.shardings import is_single_device

_ENTRY = "main"
_MESH = "mesh"
_MESH_SHAPE = "mesh_shape"
_MEMORY_KIND = "mhlo.memory_kind"
_SYMBOL = re.compile(r'@(?:"((?:[^"\\]|\\.)*)"|([\w$.\-]+))')


class FragmentModules:
    """Makes modules of the functions of `module`, each of which is moved into its own.

    A module holds what its function refers to and nothing else, and a mesh is called the same in
    all of them: programs that differ in their name only are compiled once.
    """

    def __init__(self, module: ir.Operation) -> None:
        self._block = module.regions[0].blocks[0]
        self._symbols = {
            symbol_name(op.operation): op.operation
            for op in self._block.operations
            if "sym_name" in op.operation.attributes
        }
        self._references: dict[str, list[str]] = {}

    def make(self, name: str, operands: Sequence[ir.Type], results: Sequence[ir.Type]) -> str:
        """Moves function `name` into a module of its name, as its entry point; returns the name.

        `operands` and `results` are the mesh tensors of its calls, for what they say of memory.
        """
        func = self._symbols[name]
        needed = self._needed(name)
        inner = ir.Operation.create(
            "builtin.module",
            attributes={
                "sym_name": ir.StringAttr.get(name),
                "sym_visibility": ir.StringAttr.get("private"),
            },
            regions=1,
            loc=func.location,
            ip=ir.InsertionPoint(self._block),
        )
        block = inner.regions[0].blocks.append()
        at_end = ir.InsertionPoint(block)
        meshes = [each for each in needed if self._symbols[each].name == "sdy.mesh"]
        for each in meshes:
            _forget_device_order(self._symbols[each].clone(at_end).operation)
        block.append(func)
        for each in needed:
            if each not in meshes:
                self._symbols[each].clone(at_end)
        if len(meshes) == 1 and _MESH not in needed:
            ir.SymbolTable.replace_all_symbol_uses(meshes[0], _MESH, inner)
            block.operations[0].operation.attributes["sym_name"] = ir.StringAttr.get(_MESH)
        _make_entry(func, operands, results)
        return name

    def _needed(self, name: str) -> list[str]:
        """Returns the symbols that `name` refers to, directly or not, in module order."""
        found: set[str] = set()
        pending = [name]
        while pending:
            for each in self._references_of(pending.pop()):
                if each not in found and each != name:
                    found.add(each)
                    pending.append(each)
        return [each for each in self._symbols if each in found]

    def _references_of(self, name: str) -> list[str]:
        references = self._references.get(name)
        if references is None:
            op = self._symbols[name]
            text = (
                ""
                if op.name == "sdy.mesh"
                else op.get_asm(use_local_scope=True, assume_verified=True)
            )
            names = dict.fromkeys(_unquote(*groups) for groups in _SYMBOL.findall(text))
            references = self._references[name] = [
                each for each in names if each in self._symbols and each != name
            ]
        return references


def _forget_device_order(mesh: ir.Operation) -> None:
    """Numbers the devices of a mesh in order: the call lists them as the mesh has them."""
    shape = sdy.MeshAttr(mesh.attributes["mesh"])
    if list(shape.device_ids) and not is_single_device(shape):
        mesh.attributes["mesh"] = sdy.MeshAttr.get(list(shape.axes))


def _unquote(quoted: str, plain: str) -> str:
    if not quoted:
        return plain
    return re.sub(r"\\([0-9A-Fa-f]{2})", lambda m: chr(int(m[1], 16)), quoted)


def _make_entry(
    func: ir.Operation, operands: Sequence[ir.Type], results: Sequence[ir.Type]
) -> None:
    attributes = func.attributes
    attributes["sym_name"] = ir.StringAttr.get(_ENTRY)
    for name in (_MESH_SHAPE, "sym_visibility"):
        if name in attributes:
            del attributes[name]
    for which, types in (("arg_attrs", operands), ("res_attrs", results)):
        kinds = [_host_kind(type_) for type_ in types]
        if any(kinds):
            described = argument_attributes(func, which)
            for each, kind in zip(described, kinds, strict=True):
                if kind is not None:
                    each.setdefault(_MEMORY_KIND, ir.StringAttr.get(kind))
            set_argument_attributes(func, described, which)


def _host_kind(type_: ir.Type) -> str | None:
    """Returns the memory kind of a mesh tensor that lives in the memory of the host."""
    parts = read_mesh_tensor(type_)
    if parts is None or parts.memory_kind is None or "host" not in parts.memory_kind:
        return None
    return parts.memory_kind
