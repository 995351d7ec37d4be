"""The only module of this package that imports private parts of jaxlib.

It must not import jax: `mpmd-opt` starts once per lit test, and jax alone costs a second.
"""

from __future__ import annotations

import os
import sys
import types
from typing import Any

# As jax does: without it the C++ libraries log at start-up, into the diagnostics of mpmd-opt.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")

import jaxlib
from jaxlib.mlir import ir, passmanager
from jaxlib.mlir._mlir_libs import _jax_mlir_ext
from jaxlib.mlir.dialects import chlo, func, mhlo, mpmd, sdy, stablehlo

__all__ = [
    "func",
    "inline_call",
    "ir",
    "load_ifrt",
    "make_context",
    "mpmd",
    "passmanager",
    "sdy",
    "stablehlo",
]

# Clones the body of a one-block function at the insertion point, with its arguments replaced: the
# only way that the bindings offer to clone many operations with a value mapping at C++ speed.
inline_call = _jax_mlir_ext.inlined_func_call


# Makes the passes of StableHLO known by name; those of Shardy and MLIR register themselves.
stablehlo.register_stablehlo_passes()


def make_context() -> ir.Context:
    """Returns a context with every dialect that a labelled or partitioned module can contain."""
    context = ir.Context()
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    for dialect in (sdy, mpmd, chlo, stablehlo):
        dialect.register_dialect(context)
    mhlo.register_mhlo_dialect(context)
    _register_inliner(context)
    return context


def _register_inliner(context: ir.Context) -> None:
    """Gives `func.call` its inliner interface, without which the `inline` pass does nothing."""
    try:
        from jaxlib.mlir._mlir_libs import _mosaic_gpu_ext
    except ImportError:
        return
    _mosaic_gpu_ext.register_inliner_extensions(context)


def load_ifrt(context: ir.Context) -> bool:
    """Loads the `ifrt` dialect into `context`; False where this jaxlib does not have it.

    Costs the import of jax (0.5 s) when that has not happened yet, hence not part of
    `make_context`.
    """
    try:
        # Before the aliases: what is not loaded yet when they are made would be loaded twice.
        from jaxlib import _jax  # noqa: F401
    except ImportError:
        return False
    # The extension asks for its sibling modules under a name that only a source checkout has.
    for name in [name for name in sys.modules if name.split(".")[0] == "jaxlib"]:
        sys.modules.setdefault(f"jax.{name}", sys.modules[name])
    sys.modules.setdefault("jax.jaxlib", jaxlib)
    try:
        from jaxlib import _sdy_mpmd as extension
    except ImportError:
        return False
    # The bindings look for a Python module of the dialect whenever an operation or type of it comes
    # up, and look again each time they find none: 80 us for every value of a program.
    name = f"{ir.__name__.rpartition('.')[0]}.dialects.ifrt"
    sys.modules.setdefault(name, types.ModuleType(name, "IFRT has no Python classes."))
    lower: Any = extension.lower_to_ifrt
    with context, ir.Location.unknown(context):
        # Lowering anything, even an empty module, loads the dialects of the result.
        lower(ir.Module.parse(_EMPTY_MPMD_MODULE))
    return True


_EMPTY_MPMD_MODULE = """
func.func public @main() attributes {topology = #mpmd.topology<<"m": <["x"=1]>>>} { return }
"""
