"""Partitions programs that were not traced here: a saved export, text or bytecode."""

from __future__ import annotations

from typing import Any

import jax

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.functions import function_type
from mpmd.errors import PartitionError
from mpmd.frontend.composites import restore_labels
from mpmd.frontend.config import Config
from mpmd.frontend.partition import entry_point, parse
from mpmd.frontend.program import LabelledProgram
from mpmd.frontend.signature import Signature
from mpmd.frontend.stages import Lowered, assigned_places
from mpmd.runtime.sharding import numpy_dtype


def partition(module: Any, config: Config) -> Lowered:
    """Partitions a labelled program that exists already.

    It may be a `jax.export.Exported`, whose labels are composites, an `ir.Module`, or the text or
    bytecode of one. A program without a JAX signature takes the arguments of its function ``main``,
    in order.
    """
    if not isinstance(config, Config):
        raise TypeError(f"mpmd.partition needs a configuration of mpmd.make_config, got {config!r}")
    exported = module if isinstance(module, jax.export.Exported) else None
    parsed = parse(_source(module))
    with parsed.context, ir.Location.unknown(parsed.context):
        restore_labels(parsed.operation)
        signature = _plain_signature(parsed) if exported is None else _signature(exported)
        program = LabelledProgram(
            bytecode=str(parsed.operation.get_asm(enable_debug_info=True)).encode(),
            signature=signature,
            kept=_kept(exported, signature),
            host_callbacks=(),
        )
    return Lowered(config, program, *assigned_places(config, signature), [None] * len(program.kept))


def _source(module: Any) -> str | bytes:
    if isinstance(module, jax.export.Exported):
        if len(module.platforms) > 1:
            raise PartitionError(
                f"the function was exported for {', '.join(module.platforms)}; export it for one"
            )
        if module.ordered_effects:
            raise PartitionError(
                "the exported function has ordered effects, which meshes cannot keep"
            )
        return module.mlir_module()
    if isinstance(module, (str, bytes)):
        return module
    if isinstance(module, (bytearray, memoryview)):
        return bytes(module)
    if hasattr(module, "operation"):
        return module.operation.get_asm(enable_debug_info=True)
    raise TypeError(
        "mpmd.partition needs an exported function, an ir.Module, text or bytecode, got "
        f"{type(module).__name__}"
    )


def _kept(exported: jax.export.Exported | None, signature: Signature) -> tuple[bool, ...]:
    if exported is None:
        return (True,) * len(signature.in_avals)
    return tuple(i in exported.module_kept_var_idx for i in range(len(signature.in_avals)))


def _signature(exported: jax.export.Exported) -> Signature:
    for aval in exported.in_avals:
        if not all(isinstance(size, int) for size in aval.shape):
            raise PartitionError(
                f"the function was exported for symbolic shapes ({aval}); export it for fixed ones"
            )
    tree = jax.tree.unflatten(exported.in_tree, range(len(exported.in_avals)))
    paths = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(tree)]
    return Signature(
        exported.in_tree,
        exported.out_tree,
        tuple(exported.in_avals),
        tuple(exported.out_avals),
        tuple(f"argument {path}" for path in paths),
        (False,) * len(exported.in_avals),
    )


def _plain_signature(module: ir.Module) -> Signature:
    type_ = function_type(entry_point(module.operation))
    args, results = list(map(_aval, type_.inputs)), list(map(_aval, type_.results))
    return Signature(
        jax.tree.structure((tuple(range(len(args))), {})),
        jax.tree.structure(tuple(range(len(results)))),
        tuple(args),
        tuple(results),
        tuple(f"argument {i}" for i in range(len(args))),
        (False,) * len(args),
    )


def _aval(type_: ir.Type) -> jax.ShapeDtypeStruct:
    try:
        tensor = ir.RankedTensorType(type_)
    except ValueError:
        raise PartitionError(f"main has a value that is no tensor: {type_}") from None
    if not tensor.has_static_shape:
        raise PartitionError(f"main has a tensor without a fixed shape: {type_}")
    try:
        return jax.ShapeDtypeStruct(tuple(tensor.shape), numpy_dtype(str(tensor.element_type)))
    except ValueError as error:
        raise PartitionError(
            f"main has elements of a type that JAX does not have: {error}"
        ) from None
