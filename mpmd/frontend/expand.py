"""Brings a traced function into the form that the partitioner reads.

In it labels and calls stand at the top, or at the top of the shared body of a call; everything that
merely wraps them (jit, checkpoint, custom_vjp, ...) is gone, and loops over microbatches are calls
of one body each, in sequence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.extend.core import jaxpr_as_fun

from mpmd.errors import LabelError
from mpmd.frontend import _jax
from mpmd.frontend.contents import Contents, call_of, count_of, label_of
from mpmd.frontend.marks import for_p
from mpmd.frontend.names import LabelName, SharedCall
from mpmd.frontend.stacks import Stack, parts_of, whole

_CONTROL_FLOW = {
    "while": "a lax.while_loop (or a lax.fori_loop whose bounds are not known)",
    "cond": "a lax.cond or lax.switch",
    "shard_map": "a shard_map",
}


class _Scope(NamedTuple):
    """Where in the nest of loops and checkpoints an equation is."""

    counter: int | None = None  # of the microbatch, None outside of loops
    lift: int = 0  # labels of a recomputed forward count as part of the backward they serve
    shared: bool = False  # inside the shared body of a call


def expand(closed: Any) -> Any:
    """The same function with labels and calls at the top."""
    return _Expander().expand(closed, _Scope())


class _Expander:
    def __init__(self) -> None:
        self._contents = Contents()
        self._bodies: dict[tuple[int, int], tuple[Any, _jax.SharedBody]] = {}

    def expand(self, closed: Any, scope: _Scope) -> Any:
        jaxpr, consts = _jax.jaxpr_of(closed)

        def run(*args: Any) -> list[Any]:
            return [whole(value) for value in self._run(jaxpr, consts, args, scope)]

        return _jax.trace(run, closed.in_avals)

    def _run(self, jaxpr: Any, consts: Sequence[Any], args: Sequence[Any], scope: _Scope) -> list:
        env: dict[Any, Any] = {}

        def read(atom: Any) -> Any:
            return atom.val if hasattr(atom, "val") else env[atom]

        env.update(zip(jaxpr.constvars, consts, strict=True))
        env.update(zip(jaxpr.invars, args, strict=True))
        for eqn in jaxpr.eqns:
            values = self._evaluate(eqn, [read(atom) for atom in eqn.invars], scope)
            env.update(zip(eqn.outvars, values, strict=True))
        return [read(atom) for atom in jaxpr.outvars]

    def _evaluate(self, eqn: Any, values: list[Any], scope: _Scope) -> Sequence[Any]:
        if not self._contents.is_marked(eqn):
            return self._keep(eqn, values)
        if label_of(eqn) is not None:
            return self._label(eqn, values, scope)
        if call_of(eqn) is not None and not scope.shared:
            return self._call(eqn, values, scope)
        if eqn.primitive.name == "scan":
            with _jax.source(eqn):
                return self._scan(eqn, values, scope)
        body = _jax.inlinable_body(eqn)
        if body is None:
            return self._keep(self._refuse_control_flow(eqn), values)
        if _jax.is_rematerialization(eqn):
            scope = scope._replace(lift=max(scope.lift, self._contents.depth(body)))
        return self._inline(eqn, body, values, scope)

    def _keep(self, eqn: Any, values: list[Any]) -> list[Any]:
        if eqn.primitive.name == "iota" and len(eqn.params["shape"]) == 1:
            return [Stack.iota(eqn.outvars[0].aval, lambda: _jax.rebind(eqn, values)[0])]
        return _jax.rebind(eqn, [whole(value) for value in values])

    def _inline(self, eqn: Any, body: Any, values: list[Any], scope: _Scope) -> list[Any]:
        with _jax.source(eqn):
            return self._run(*_jax.jaxpr_of(body), values, scope)

    def _refuse_control_flow(self, eqn: Any) -> Any:
        kind = _CONTROL_FLOW.get(eqn.primitive.name)
        subs = list(_jax.sub_jaxprs(eqn.params))
        if not subs:
            return eqn  # a named_tensor, broadcast or reduce
        labels = sorted({str(label_of(e)) for sub in subs for e in self._contents.labels(sub)})
        what = (
            f"the label{'s'[: len(labels) > 1]} {', '.join(map(repr, labels))}"
            if labels
            else "a mark"
        )
        raise LabelError(
            f"{what} inside {kind or eqn.primitive.name} at {_jax.where(eqn)}: how often it runs "
            "must be known to place it on a mesh. Use lax.scan or mpmd.fori_loop, or put the whole "
            "of it inside one label."
        )

    def _label(self, eqn: Any, values: list[Any], scope: _Scope) -> list[Any]:
        label = label_of(eqn)
        assert label is not None
        lift = max(0, scope.lift - count_of(eqn))
        name = LabelName(
            label, transpose_count=label.transpose_count + lift, call_counter=scope.counter
        )
        return _jax.rebind(eqn, [whole(value) for value in values], name=name)

    def _call(self, eqn: Any, values: list[Any], scope: _Scope) -> list[Any]:
        name, body = call_of(eqn), eqn.params["jaxpr"]
        assert name is not None
        counter = name.call_counter
        if scope.counter is not None:
            counter = scope.counter + (counter or 0)
        if not self._contents.is_leaf(body):
            return self._inline(eqn, body, values, scope._replace(counter=counter))
        with _jax.source(eqn):
            return self._call_shared(body, values, SharedCall(name, call_counter=counter), scope)

    def _call_shared(
        self, body: Any, values: list[Any], name: SharedCall, scope: _Scope
    ) -> list[Any]:
        key = (id(body), scope.lift)
        if key not in self._bodies:
            expanded = self.expand(body, _Scope(lift=scope.lift, shared=True))
            self._bodies[key] = body, _jax.SharedBody(expanded)
        return self._bodies[key][1](name, [whole(value) for value in values])

    def _scan(self, eqn: Any, values: list[Any], scope: _Scope) -> list[Any]:
        body, length = eqn.params["jaxpr"], eqn.params["length"]
        num_consts, num_carry = _jax.scan_sizes(eqn.params)
        if scope == _Scope() and self._counts_only(eqn, values[num_consts + num_carry :]):
            return self._for(body, length, num_consts, [whole(value) for value in values[:-1]])
        consts = values[:num_consts]
        carry = values[num_consts : num_consts + num_carry]
        xs = [parts_of(x, length) for x in values[num_consts + num_carry :]]
        ys: list[list[Any]] = [[None] * length for _ in eqn.outvars[num_carry:]]
        width, base = self._contents.width(body), scope.counter or 0
        for step in range(length):
            i = length - 1 - step if eqn.params["reverse"] else step
            inner = scope._replace(counter=base + i * width)
            out = self._iterate(body, [*consts, *carry, *(x[i] for x in xs)], inner)
            carry = out[:num_carry]
            for y, part in zip(ys, out[num_carry:], strict=True):
                y[i] = whole(part)
        avals = [var.aval for var in eqn.outvars[num_carry:]]
        return [*carry, *map(Stack.of, ys, avals)]

    def _counts_only(self, eqn: Any, xs: list[Any]) -> bool:
        """Whether a scan is a fori_loop still: a carry, a number and nothing else."""
        body, num_carry = eqn.params["jaxpr"], _jax.scan_sizes(eqn.params)[1]
        return (
            len(xs) == 1
            and isinstance(xs[0], Stack)
            and xs[0].is_iota
            and len(eqn.outvars) == num_carry
            and not eqn.params["reverse"]
            and eqn.params["length"] > 1
            and self._contents.is_leaf(body)
        )

    def _for(self, body: Any, length: int, num_consts: int, values: list[Any]) -> list[Any]:
        """A loop that the compiler unrolls; its index is unsigned, and is converted in the body."""
        expanded = self.expand(body, _Scope(shared=True))
        *avals, index = body.in_avals

        def step(*args: Any) -> list[Any]:
            i = jax.lax.convert_element_type(args[-1], index.dtype)
            return jaxpr_as_fun(expanded)(*args[:-1], i)

        unsigned = jax.ShapeDtypeStruct((), jnp.uint32)
        counted = _jax.trace(step, [*avals, unsigned])
        return for_p.bind(*values, body=counted, length=length, num_consts=num_consts)

    def _iterate(self, body: Any, values: list[Any], scope: _Scope) -> list[Any]:
        if not self._contents.is_leaf(body):
            return self._run(*_jax.jaxpr_of(body), values, scope)
        name = SharedCall("microbatch", call_counter=scope.counter)
        return self._call_shared(body, values, name, scope)
