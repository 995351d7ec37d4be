"""`mpmd.jit`: a function that runs partitioned over the meshes of a topology."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import jax
import numpy as np

from mpmd.frontend import _jax, prefixes
from mpmd.frontend.config import Config
from mpmd.frontend.program import lower, signature_of
from mpmd.frontend.stages import Compiled, Lowered, assigned_places
from mpmd.frontend.topology import all_axes


def jit(
    fn: Callable,
    config: Config,
    *,
    in_shardings: Any = None,
    out_shardings: Any = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Iterable[str] | None = None,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
    keep_unused: bool = False,
    override_func_name: str | None = None,
) -> JitFunction:
    """Partitions a function over the meshes of a configuration and runs it there.

    It gives what ``jax.jit`` gives, and takes what that takes: it compiles once for each signature,
    and puts numpy arrays, Python scalars and arrays that are elsewhere where they belong.

    Args:
      fn: the function, with labels in it.
      config: from `make_config`.
      in_shardings: a prefix of the tree of the positional arguments, of NamedShardings or None.
      out_shardings: the same for the results.
      donate_argnums: positions of arguments whose memory may be reused; the call deletes them.
      donate_argnames: names of more of them.
      static_argnums: positions of arguments that are compile-time constants.
      static_argnames: names of more of them.
      keep_unused: whether arguments that no result depends on are placed all the same.
      override_func_name: a name for the program instead of the function's.
    """
    if not callable(fn):
        raise TypeError(f"mpmd.jit needs a function, got {fn!r}")
    if not isinstance(config, Config):
        raise TypeError(f"mpmd.jit needs a configuration made by mpmd.make_config, got {config!r}")
    jitted = jax.jit(
        fn,
        donate_argnums=donate_argnums,
        donate_argnames=donate_argnames,
        static_argnums=static_argnums,
        static_argnames=static_argnames,
    )
    has_static = static_argnums is not None or static_argnames is not None
    return JitFunction(
        fn, jitted, config, in_shardings, out_shardings, keep_unused, override_func_name, has_static
    )


class JitFunction:
    """A function that `mpmd.jit` made."""

    def __init__(
        self,
        fn: Callable,
        jitted: Any,
        config: Config,
        in_shardings: Any,
        out_shardings: Any,
        keep_unused: bool,
        name: str | None,
        has_static: bool,
    ) -> None:
        """Takes the function and everything its programs depend on beside the arguments."""
        functools.update_wrapper(self, fn, updated=())
        self._jitted = jitted
        self._config = config
        self._in_shardings = in_shardings
        self._out_shardings = out_shardings
        self._keep_unused = keep_unused
        self._name = name
        self._has_static = has_static
        self._by_types: dict[Any, Compiled] = {}  # what the fast path has seen
        self._by_jaxpr: dict[int, tuple[Any, Compiled]] = {}
        self._lock = threading.Lock()
        self._axes = all_axes(config.topology)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the function; returns once all is issued, with arrays that may not be there yet."""
        if self._has_static:
            traced, flat = self._trace(args, kwargs)
            return self._compiled_for(traced).call_flat(flat)
        flat, tree = jax.tree.flatten((args, kwargs))
        types = tuple(map(_type_of, flat))
        if jax.core.Tracer in types:  # inside another transformation: the plain function
            return self._jitted(*args, **kwargs)
        key = (tree, types, _jax.trace_context())
        compiled = self._by_types.get(key)
        if compiled is None:
            traced, _ = self._trace(args, kwargs)
            compiled = self._by_types[key] = self._compiled_for(traced)
        return compiled.call_flat(flat)

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """Traces and partitions the function for such arguments, or `jax.ShapeDtypeStruct`s."""
        traced, _ = self._trace(args, kwargs)
        return self._lower(traced)

    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        """The types of the results."""
        return self._jitted.eval_shape(*args, **kwargs)

    def clear_cache(self) -> None:
        """Forgets the compiled programs."""
        with self._lock:
            self._by_types.clear()
            self._by_jaxpr.clear()

    def _trace(self, args: Any, kwargs: Any) -> tuple[_jax.Traced, list[Any]]:
        """Traces; a bare PartitionSpec means the axes of the meshes, unless a mesh is set."""
        if not jax.sharding.get_abstract_mesh().empty:
            return _jax.infer(self._jitted, args, kwargs)
        with jax.sharding.use_abstract_mesh(self._axes):
            return _jax.infer(self._jitted, args, kwargs)

    def _compiled_for(self, traced: _jax.Traced) -> Compiled:
        # JAX hands out one jaxpr for a signature, so that is the key; it is kept alive here.
        found = self._by_jaxpr.get(id(traced.jaxpr))
        if found is None:
            with self._lock:
                found = self._by_jaxpr.get(id(traced.jaxpr))
                if found is None:
                    found = traced.jaxpr, self._lower(traced).compile()
                    self._by_jaxpr[id(traced.jaxpr)] = found
        return found[1]

    def _lower(self, traced: _jax.Traced) -> Lowered:
        config, signature = self._config, signature_of(traced)
        arg_names, result_names = signature.arg_names, signature.result_names
        ins = prefixes.for_arguments("in_shardings", self._in_shardings, signature.in_tree)
        outs = prefixes.for_results("out_shardings", self._out_shardings, signature.out_tree)
        check = partial(prefixes.check_shardings, topology=config.topology)
        check("in_shardings", ins, arg_names, signature.in_avals)
        check("out_shardings", outs, result_names, signature.out_avals)
        inputs, outputs = assigned_places(config, signature)
        if config.read_input_output_mesh_from_shardings:
            merge = partial(prefixes.merge_places, config.topology)
            inputs = merge("in_shardings", inputs, ins, arg_names)
            outputs = merge("out_shardings", outputs, outs, result_names)
        program = lower(
            traced,
            platform=config.devices[0].platform,
            name=self._name or traced.name,
            keep_unused=self._keep_unused,
            in_shardings=ins,
            out_shardings=outs,
        )
        return Lowered(config, program, inputs, outputs, ins)


def _type_of(x: Any) -> Any:
    """What of an argument decides the program; the class of tracers for all of them."""
    if isinstance(x, jax.core.Tracer):
        return jax.core.Tracer
    if isinstance(x, jax.Array):
        return x.aval
    if isinstance(x, (np.ndarray, np.generic)):
        return x.shape, x.dtype
    return type(x)
