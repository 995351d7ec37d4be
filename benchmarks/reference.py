"""The C++ partitioner inside jaxlib, as the reference that benchmarks measure against.

It stops at IFRT IR, which nothing outside one closed service executes, so only compile time and the
resulting program can be compared.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mpmd.dialect._jaxlib import ir, load_ifrt, make_context
from mpmd.dialect.functions import argument_attributes


def available() -> bool:
    """Tells whether this jaxlib carries the C++ partitioner."""
    return load_ifrt(make_context())


def partition(
    text: str,
    meshes: Mapping[str, Sequence[tuple[str, int]]],
    assignment: Mapping[str, Any],
    *,
    schedule: str = "none",
    options: Mapping[str, Any] | None = None,
) -> tuple[float, str, str]:
    """Partitions a labelled module from text; returns seconds, the MPMD text, the IFRT text.

    Parsing is not in the seconds. What the text marks as donated is donated.
    """
    with make_context() as context, ir.Location.unknown(context):
        load_ifrt(context)  # also prepares the import of the extension
        from jaxlib import _sdy_mpmd as cpp

        module = ir.Module.parse(text)
        function_type = ir.FunctionType(
            ir.TypeAttr(_main(module).attributes["function_type"]).value
        )
        attributes = argument_attributes(_main(module))
        donated = [i for i, each in enumerate(attributes) if "jax.buffer_donor" in each]
        with _silenced():
            started = time.perf_counter()
            result = cpp.apply_mpmd_partitioning(
                module,
                func_name="main",
                named_meshes=[(name, list(axes)) for name, axes in meshes.items()],
                assignment=dict(assignment),
                input_meshes=[None] * len(function_type.inputs),
                output_meshes=[None] * len(function_type.results),
                donate_argnums=donated,
                partitioning_options={"mpmd_pipeline_schedule": schedule, **(options or {})},
                fragment_merge_rules=[],
                fragment_schedule_rules=[],
                phases=cpp.PartitioningPhase.ALL,
            )
            partitioned = time.perf_counter()
        mpmd_text = str(result.mpmd_module)
        resumed = time.perf_counter()
        cpp.lower_to_ifrt(result.mpmd_module)
        finished = time.perf_counter()
        ifrt_text = str(result.mpmd_module)
        return (partitioned - started) + (finished - resumed), mpmd_text, ifrt_text


@contextlib.contextmanager
def _silenced() -> Iterator[None]:
    """Keeps the C++ code's log off the standard output, where nothing turns it off."""
    saved = os.dup(1)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    try:
        yield
    finally:
        os.dup2(saved, 1)
        os.close(saved)
        os.close(null)


def _main(module: ir.Module) -> ir.Operation:
    for op in module.body.operations:
        if (
            op.operation.name == "func.func"
            and str(op.operation.attributes["sym_name"]) == '"main"'
        ):
            return op.operation
    raise ValueError("the module has no function named main")


_BYTES = {"f64": 8, "f32": 4, "bf16": 2, "f16": 2, "i64": 8, "i32": 4, "i16": 2, "i8": 1, "i1": 1}
_TRANSFER = re.compile(r'mpmd\.transfer .*?: \(!mpmd\.mesh_tensor<"[^"]*", tensor<([^>]*)>')


def counts(mpmd_text: str) -> dict[str, int]:
    """Returns transfers, bytes moved, calls and distinct programs of an MPMD module's text."""
    transfers = _TRANSFER.findall(mpmd_text)
    calls = re.findall(r"mpmd\.fragment_call<[^>]*> (@[\w.\"]+)", mpmd_text)
    return {
        "transfers": len(transfers),
        "bytes": sum(map(_size, transfers)),
        "calls": len(calls),
        "programs": len(set(calls)),
    }


def _size(shape: str) -> int:
    *dims, dtype = shape.split("x")
    size = _BYTES.get(re.sub(r"^u", "", dtype).replace("ui", "i"), 4)
    for dim in dims:
        size *= int(dim)
    return size
