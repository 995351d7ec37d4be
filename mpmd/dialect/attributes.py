"""Typed access to the attributes and types of the mpmd dialect.

jaxlib gives Python classes for one of them only, so the rest are built from, and read back from,
their text. Reading is cached: a program has few distinct types and many values.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from mpmd.dialect._jaxlib import ir, mpmd

T = TypeVar("T")


class _ContextCache(threading.local):
    """Memoised conversions of one context per thread.

    Values hold their context alive, so a cache per context would never be freed. A thread works on
    one context at a time: when another one comes, the cache starts anew.
    """

    def __init__(self) -> None:
        self.context: ir.Context | None = None
        self.entries: dict[Any, Any] = {}

    def get(self, context: ir.Context, key: Any, make: Callable[[], T]) -> T:
        if context is not self.context:
            self.context = context
            self.entries = {}
        found = self.entries.get(key)
        if found is None:
            found = self.entries[key] = make()
        return found


_cache = _ContextCache()


def memo(context: ir.Context, key: Any, make: Callable[[], T]) -> T:
    """Returns what `make` gave for `key` the first time in `context`, on this thread."""
    return _cache.get(context, key, make)


def quote(text: str) -> str:
    """Returns `text` as an MLIR string literal."""
    escaped = "".join(
        c if 32 <= ord(c) < 127 and c not in '"\\' else "".join(f"\\{b:02X}" for b in c.encode())
        for c in text
    )
    return f'"{escaped}"'


def parse_attribute(text: str) -> ir.Attribute:
    """Returns the attribute that `text` spells, in the current context."""
    context = ir.Context.current
    return _cache.get(context, ("attribute", text), lambda: ir.Attribute.parse(text, context))


def parse_type(text: str) -> ir.Type:
    """Returns the type that `text` spells, in the current context."""
    context = ir.Context.current
    return _cache.get(context, ("type", text), lambda: ir.Type.parse(text, context))


# --- integers ---------------------------------------------------------------------------------


def ui32(value: int) -> ir.IntegerAttr:
    """Returns `value : ui32`, the type of call and unroll counters."""
    return ir.IntegerAttr.get(ir.IntegerType.get_unsigned(32), value)


def i32(value: int) -> ir.IntegerAttr:
    """Returns `value : i32`."""
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(32), value)


def i64(value: int) -> ir.IntegerAttr:
    """Returns `value : i64`."""
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)


def int_attribute(op: ir.Operation, name: str) -> int | None:
    """Returns the value of integer attribute `name` of `op`, or None where it is absent."""
    attributes = op.attributes
    return ir.IntegerAttr(attributes[name]).value if name in attributes else None


# --- origins ----------------------------------------------------------------------------------


@dataclass(frozen=True, order=True)
class Origin:
    """Where a fragment comes from: a label and how often it was transposed (0 = forward)."""

    name: str
    transpose_count: int = 0

    def __str__(self) -> str:
        return f"{self.name}({self.transpose_count})" if self.transpose_count else self.name


def origin_attribute(origin: Origin) -> ir.Attribute:
    """Returns `#mpmd.user_origin` for `origin`."""
    return mpmd.UserOriginAttr.get(origin.name, origin.transpose_count)


def read_origin(attribute: ir.Attribute) -> Origin:
    """Returns the origin that a `#mpmd.user_origin` attribute spells."""

    def read() -> Origin:
        user = mpmd.UserOriginAttr(attribute)
        return Origin(user.user_name, user.transpose_count)

    return _cache.get(attribute.context, attribute, read)


def origins_attribute(origins: Iterable[Origin]) -> ir.ArrayAttr:
    """Returns the `origin` array of a fragment."""
    return ir.ArrayAttr.get([origin_attribute(origin) for origin in origins])


def read_origins(attribute: ir.Attribute) -> tuple[Origin, ...]:
    """Returns the origins in the `origin` array of a fragment."""
    return _cache.get(
        attribute.context,
        attribute,
        lambda: tuple(read_origin(element) for element in ir.ArrayAttr(attribute)),
    )


# --- topology ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class MeshShape:
    """The axes of one mesh, as (name, size) pairs, and its device ids where they are explicit."""

    axes: tuple[tuple[str, int], ...]
    device_ids: tuple[int, ...] | None = None

    @property
    def size(self) -> int:
        """The number of devices."""
        product = 1
        for _, size in self.axes:
            product *= size
        return product

    def __str__(self) -> str:
        axes = ", ".join(f"{quote(name)}={size}" for name, size in self.axes)
        if self.device_ids is None:
            return f"<[{axes}]>"
        ids = ", ".join(map(str, self.device_ids))
        return f"<[{axes}], device_ids=[{ids}]>"


_AXIS = re.compile(r'"((?:[^"\\]|\\.)*)"\s*=\s*(\d+)')
_MESH = re.compile(
    r'<"(?P<name>(?:[^"\\]|\\.)*)"\s*:\s*<\[(?P<axes>[^\]]*)\](?:,\s*device_ids=\[(?P<ids>[^\]]*)\])?>>'
)


def topology_attribute(meshes: dict[str, MeshShape]) -> ir.Attribute:
    """Returns `#mpmd.topology` for meshes in the order of the dictionary."""
    inner = ", ".join(f"<{quote(name)} : {shape}>" for name, shape in meshes.items())
    return parse_attribute(f"#mpmd.topology<{inner}>")


def mesh_shape_attribute(shape: MeshShape) -> ir.Attribute:
    """Returns `#sdy.mesh` for `shape`, as functions that hold fragment bodies carry it."""
    return parse_attribute(f"#sdy.mesh{shape}")


def read_topology(attribute: ir.Attribute) -> dict[str, MeshShape]:
    """Returns mesh name -> shape, in the order of the topology."""

    def read() -> dict[str, MeshShape]:
        meshes = {}
        for match in _MESH.finditer(str(attribute)):
            axes = tuple((name, int(size)) for name, size in _AXIS.findall(match["axes"]))
            ids = match["ids"]
            meshes[match["name"]] = MeshShape(
                axes, tuple(int(i) for i in ids.split(",")) if ids else None
            )
        return meshes

    return _cache.get(attribute.context, attribute, read)


# --- mesh tensors -----------------------------------------------------------------------------


@dataclass(frozen=True)
class MeshTensor:
    """The parts of a `!mpmd.mesh_tensor` type.

    `sharding` is the text inside `sharding=<...>`, e.g. `@mesh, [{"x"}, {}]`; None when absent.
    """

    mesh: str
    tensor: ir.Type
    sharding: str | None = None
    memory_kind: str | None = None

    def with_(self, **changes: Any) -> MeshTensor:
        """Returns a copy with some parts replaced."""
        return MeshTensor(**{**self.__dict__, **changes})

    @property
    def type(self) -> ir.Type:
        """The MLIR type."""
        text = f"!mpmd.mesh_tensor<{quote(self.mesh)}, {self.tensor}"
        if self.sharding is not None:
            text += f", sharding=<{self.sharding}>"
        if self.memory_kind is not None:
            text += f", memory_kind={quote(self.memory_kind)}"
        return parse_type(text + ">")


_MESH_TENSOR = re.compile(
    r'!mpmd\.mesh_tensor<"(?P<mesh>(?:[^"\\]|\\.)*)", (?P<tensor>.*?)'
    r'(?:, sharding=<(?P<sharding>.*)>)?(?:, memory_kind="(?P<kind>(?:[^"\\]|\\.)*)")?>$'
)


def mesh_tensor_type(
    mesh: str, tensor: ir.Type, sharding: str | None = None, memory_kind: str | None = None
) -> ir.Type:
    """Returns the `!mpmd.mesh_tensor` type of these parts."""
    context = ir.Context.current
    return _cache.get(
        context,
        (mesh, tensor, sharding, memory_kind),
        lambda: MeshTensor(mesh, tensor, sharding, memory_kind).type,
    )


def read_mesh_tensor(type_: ir.Type) -> MeshTensor | None:
    """Returns the parts of a mesh tensor type, or None for a type of another kind."""

    def read() -> tuple[MeshTensor | None]:
        match = _MESH_TENSOR.match(str(type_))
        if match is None:
            return (None,)
        tensor = ir.Type.parse(match["tensor"], type_.context)
        return (MeshTensor(match["mesh"], tensor, match["sharding"], match["kind"]),)

    return _cache.get(type_.context, type_, read)[0]


def is_mesh_tensor(type_: ir.Type) -> bool:
    """Tells whether `type_` is a `!mpmd.mesh_tensor`."""
    return read_mesh_tensor(type_) is not None


def mesh_of(value: ir.Value) -> str | None:
    """Returns the mesh that `value` lives on, or None for a value without one."""
    parts = read_mesh_tensor(value.type)
    return None if parts is None else parts.mesh


# --- meshes with origins (mesh inference) -------------------------------------------------------

Meshes = dict[str, tuple[str, ...]]
"""Mesh name -> the origins that put it there, both in order; of a use set or a source set."""

_WITH_ORIGINS = re.compile(r'"((?:[^"\\]|\\.)*)"(?:\[([^\]]*)\])?')
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


def meshes_attribute(meshes: Meshes) -> ir.Attribute:
    """Returns `#mpmd.meshes_with_origins` for `meshes`."""

    def make() -> ir.Attribute:
        parts = [
            quote(mesh) + (f"[{', '.join(map(quote, origins))}]" if origins else "")
            for mesh, origins in meshes.items()
        ]
        return parse_attribute(f"#mpmd.meshes_with_origins<{', '.join(parts)}>")

    return _cache.get(ir.Context.current, ("meshes", *meshes.items()), make)


def read_meshes(attribute: ir.Attribute) -> Meshes:
    """Returns the meshes and their origins that a use set or source set attribute spells."""

    def read() -> Meshes:
        inner = str(attribute).partition("<")[2]
        return {
            mesh: tuple(_STRING.findall(origins)) for mesh, origins in _WITH_ORIGINS.findall(inner)
        }

    return dict(_cache.get(attribute.context, attribute, read))


def strings_attribute(strings: Sequence[str]) -> ir.ArrayAttr:
    """Returns an array of string attributes."""
    return ir.ArrayAttr.get([ir.StringAttr.get(text) for text in strings])


def read_strings(attribute: ir.Attribute) -> tuple[str, ...]:
    """Returns the strings of an array attribute."""
    return tuple(ir.StringAttr(element).value for element in ir.ArrayAttr(attribute))
