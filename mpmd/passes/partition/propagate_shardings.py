"""mpmd-propagate-shardings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from mpmd.dialect._jaxlib import ir, sdy
from mpmd.dialect.fragment import CALL, Bodies
from mpmd.dialect.functions import (
    argument_attributes,
    entry_block,
    functions,
    is_distributed,
    is_mpmd_function,
    is_public,
    set_argument_attributes,
    symbol_name,
    terminator,
    topology_of,
)
from mpmd.dialect.shardings import (
    IN,
    OUT,
    SHARDING,
    close_sharding,
    rank_of,
    set_transfer_sharding,
    shape_of,
    sharding_of_type,
    unsplit_sharding,
)
from mpmd.passes.base import Pass
from mpmd.passes.partition import _sdy
from mpmd.passes.partition._flow import TRANSFER, Flow, mesh_of_slot, read_flow
from mpmd.passes.partition._meshes import SharedMesh, shared_mesh
from mpmd.passes.partition._seeds import has_seeds
from mpmd.passes.partition._summary import Shardings, make_summary


@dataclass(frozen=True)
class PropagateShardings(Pass):
    """Propagates shardings through the whole program with Shardy, each distinct body once.

    Starts from the shardings of the function's arguments and results and from the constraints in
    bodies, and leaves `in_shardings` and `out_shardings` on fragments and `sdy.sharding` on
    transfers:

        func @main(%arg0: !m {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
          %0 = mpmd.fragment_call<mesh="m"> @f(%arg0)
        ~~>
          %0 = mpmd.fragment_call<mesh="m"> @f(%arg0) {in_shardings = [...{"x"}], out_shardings ...}

    Fragment calls of one function on one mesh and stage count as one, so that microbatches cost
    nothing: values that flow into the same operand of such calls get the same sharding. Between
    meshes of different shapes shardings propagate by the names of axes. A program of regions on
    meshes of one shape is given to Shardy as it is.
    """

    name: ClassVar[str] = "mpmd-propagate-shardings"

    def run(self, module: ir.Operation) -> None:
        programs = []
        for func in functions(module):
            if is_mpmd_function(func) and is_distributed(func):
                programs.append((func, shared_mesh(module, topology_of(func))))
        if _has_main(module) and all(_is_plain(func, mesh) for func, mesh in programs):
            _sdy.propagate(module)
            return
        bodies = Bodies(module)
        for func, mesh in programs:
            if mesh is not None:
                _take_shardings_from_types(func)
                _Propagation(func, bodies, mesh).run()


def _has_main(module: ir.Operation) -> bool:
    """Tells whether Shardy finds where to start: it aborts where none of several is `main`.

    Functions that cannot be called from outside are gone by then, unless something calls them.
    """
    public = {symbol_name(func): is_public(func) for func in functions(module)}
    if len(public) == 1:
        return all(public.values())
    return public.get("main", False)


def _is_plain(func: ir.Operation, mesh: SharedMesh | None) -> bool:
    """Tells whether Shardy can propagate through `func` as it is."""
    if mesh is not None and not mesh.is_uniform:
        return False
    return all(op.operation.name != CALL for op in entry_block(func).operations)


def _take_shardings_from_types(func: ir.Operation) -> None:
    """Copies the shardings in the types of the boundary to its attributes, which say the same."""
    block = entry_block(func)
    for name, values in (
        ("arg_attrs", block.arguments),
        ("res_attrs", terminator(block).operands),
    ):
        shardings = [sharding_of_type(value.type) for value in values]
        if any(shardings):
            attributes = argument_attributes(func, name)
            for each, sharding in zip(attributes, shardings, strict=True):
                if sharding is not None:
                    each.setdefault(SHARDING, sharding)
            set_argument_attributes(func, attributes, name)


def _given(func: ir.Operation, name: str) -> Shardings:
    return [each.get(SHARDING) for each in argument_attributes(func, name)]


def _set_given(func: ir.Operation, name: str, shardings: Shardings) -> None:
    attributes = argument_attributes(func, name)
    for each, sharding in zip(attributes, shardings, strict=True):
        if sharding is not None:
            each[SHARDING] = sharding
    set_argument_attributes(func, attributes, name)


@dataclass
class _Propagation:
    """Propagation through one function by way of a summary."""

    func: ir.Operation
    bodies: Bodies
    mesh: SharedMesh
    flow: Flow = field(init=False)

    def run(self) -> None:
        flow = self.flow = read_flow(self.func)
        arguments, results = _given(self.func, "arg_attrs"), _given(self.func, "res_attrs")
        if not any(arguments) and not any(results) and not has_seeds(flow, self.bodies):
            return
        summary = make_summary(
            flow, self._shared(arguments), self._shared(results), self.bodies, self.mesh
        )
        _sdy.propagate(summary.module.operation)
        propagated = summary.boundary_arguments()
        arguments = self._settle(flow.arguments, arguments, propagated)
        results = self._settle(flow.returned, results, summary.boundary_results())
        found = summary.answers()
        known = _by_class(flow, found)
        for slot, own, extended in zip(flow.arguments, arguments, propagated, strict=True):
            found[slot] = (own and self.mesh.shared(own)) or extended or known.get(flow.find(slot))
        fitted = [each and self._fitted(slot, each) for slot, each in enumerate(found)]
        # What only fragments take is known from them, and can be used by many.
        boundary = zip(flow.arguments, arguments, propagated, strict=True)
        _set_given(
            self.func, "arg_attrs", [(own or more) and fitted[slot] for slot, own, more in boundary]
        )
        _set_given(self.func, "res_attrs", results)
        self._write(fitted)

    def _shared(self, shardings: Shardings) -> Shardings:
        return [each and self.mesh.shared(each) for each in shardings]

    def _settle(self, slots: Sequence[int], given: Shardings, after: Shardings) -> Shardings:
        """Closes the user's shardings at one side of the boundary, extended where they were open.

        `after` is what propagation made of them; None for one that another on a tied slot beat.
        """
        return [
            own and self._fitted(slot, extended or self.mesh.shared(close_sharding(own)))
            for slot, own, extended in zip(slots, given, after, strict=True)
        ]

    def _fitted(self, slot: int, sharding: ir.Attribute) -> ir.Attribute:
        flow = self.flow
        return self.mesh.fitted(sharding, mesh_of_slot(flow, slot), shape_of(flow.values[slot]))

    def _write(self, shardings: Shardings) -> None:
        """Writes the answers onto calls and transfers, the same list of shardings once."""
        lists = _Lists(shardings, self._unknown)
        for op, variant, operands in self.flow.calls:
            if op.name == TRANSFER:
                set_transfer_sharding(op, shardings[variant.outputs[0]])
                continue
            for name, slots in ((IN, operands), (OUT, tuple(variant.outputs))):
                attribute = lists.get(slots)
                if attribute is not None:
                    op.attributes[name] = attribute

    def _unknown(self, slot: int) -> ir.Attribute:
        value = self.flow.values[slot]
        mesh = self.mesh.symbols[mesh_of_slot(self.flow, slot)]
        return unsplit_sharding(mesh, rank_of(value))


def _by_class(flow: Flow, shardings: Shardings) -> dict[int, ir.Attribute]:
    """Returns the first known sharding of each class of tied slots."""
    known: dict[int, ir.Attribute] = {}
    for slot, sharding in enumerate(shardings):
        if sharding is not None:
            known.setdefault(flow.find(slot), sharding)
    return known


@dataclass
class _Lists:
    """Lists of shardings as attributes, made once; None where nothing in the list is known."""

    shardings: Sequence[ir.Attribute | None]
    unknown: Callable[[int], ir.Attribute]
    _made: dict[tuple[int, ...], ir.Attribute | None] = field(default_factory=dict)

    def get(self, slots: tuple[int, ...]) -> ir.Attribute | None:
        """Returns the shardings of `slots`."""
        if slots not in self._made:
            self._made[slots] = self._make(slots)
        return self._made[slots]

    def _make(self, slots: tuple[int, ...]) -> ir.Attribute | None:
        found = [self.shardings[slot] for slot in slots]
        if not any(found):
            return None
        return sdy.TensorShardingPerValueAttr.get(
            [each or self.unknown(slot) for slot, each in zip(slots, found, strict=True)]
        )
