"""A traced function as a labelled module."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mpmd.frontend import _jax
from mpmd.frontend.emit import Emitter
from mpmd.frontend.expand import expand
from mpmd.frontend.signature import Signature


@dataclass(frozen=True)
class LabelledProgram:
    """A StableHLO module with labels, and which arguments of the function it takes."""

    bytecode: bytes
    signature: Signature
    kept: tuple[bool, ...]
    host_callbacks: tuple[Any, ...]


def lower(
    traced: _jax.Traced,
    *,
    platform: str,
    name: str,
    keep_unused: bool,
    in_shardings: Sequence[Any],
    out_shardings: Sequence[Any],
) -> LabelledProgram:
    """Lowers a traced function, with operations of the mpmd dialect for its labels."""
    _jax.check_effects(traced.jaxpr)
    signature = signature_of(traced)
    live, kept = _jax.eliminate_dead_code(traced.jaxpr, keep_unused=keep_unused)
    flat = _jax.drop_unused(expand(live))
    module = _jax.lower_module(
        name,
        flat,
        platform=platform,
        overrides=Emitter().rules(),
        arg_shardings=select(in_shardings, kept),
        result_shardings=out_shardings,
        arg_names=select(traced.arg_names, kept),
        result_names=signature.result_names,
        donated=select(traced.donated, kept),
    )
    return LabelledProgram(module.bytecode, signature, tuple(kept), module.callbacks)


def signature_of(traced: _jax.Traced) -> Signature:
    """The signature that a function was traced for."""
    return Signature(
        traced.in_tree,
        traced.out_tree,
        tuple(traced.jaxpr.in_avals),
        tuple(traced.jaxpr.out_avals),
        traced.arg_names,
        traced.donated,
    )


def select(values: Sequence[Any], kept: Sequence[bool]) -> list[Any]:
    """The values of the arguments that are kept."""
    return [value for value, keep in zip(values, kept, strict=True) if keep]
