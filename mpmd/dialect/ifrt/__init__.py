"""IFRT IR, the contract between compiler and runtime: array types, programs, fragment modules."""

from mpmd.dialect.ifrt.fragment import DEVICE_MESH, FragmentModule, device_mesh, fragment_module
from mpmd.dialect.ifrt.program import (
    Call,
    Fragment,
    Program,
    Transfer,
    make_ifrt_context,
    read_program,
)
from mpmd.dialect.ifrt.types import ArrayType, IfrtError, ShardingParam

__all__ = [
    "DEVICE_MESH",
    "ArrayType",
    "Call",
    "Fragment",
    "FragmentModule",
    "IfrtError",
    "Program",
    "ShardingParam",
    "Transfer",
    "device_mesh",
    "fragment_module",
    "make_ifrt_context",
    "read_program",
]
