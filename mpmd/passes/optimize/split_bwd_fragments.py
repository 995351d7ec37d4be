"""The pass `mpmd-split-bwd-fragments`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import mesh_tensor_type
from mpmd.dialect.diagnostics import report
from mpmd.dialect.fragment import Bodies, Fragment, edit
from mpmd.dialect.functions import callee_name
from mpmd.passes.base import option
from mpmd.passes.common._flow import TRANSFER, Flow, FlowPass, Node, Value
from mpmd.passes.common._merging import SPLIT_DROP, SPLIT_KEEP, transpose_count
from mpmd.passes.optimize._cheap import is_cheap
from mpmd.passes.optimize._halves import Halves, lean_halves, plain_halves
from mpmd.passes.optimize._scheduling_units import BACKWARD


@dataclass(frozen=True)
class SplitBwdFragments(FlowPass):
    """Splits backward fragments into what other meshes wait for and the rest, which can wait.

    The gradient of a stage's input is on the critical path of a pipeline, that of its weights is
    not: zero-bubble schedules fill idle time with it. The first half computes what is transferred,
    or used by another stage of the same mesh, and hands the second half the values that it lacks:

        %0:2 = fragment<"m1", ["f"(1)]> (%g, %w) {       %0:2 = fragment<"m1", ["f"(1)]> (%g, %w)
          %1 = add %x, %x                                    {split_keep_transferred} {
          %2 = dot %1, %y                                  %1 = add %x, %x
          %3 = dot %1, %1                        ~~>       return dot %1, %y, %1 }
          return %2, %3 }                                %1 = fragment<"m1", ["f"(1)]>
        %t = transfer %0#0 : (m1) -> m0                      (%g, %w, %0#1)
                                                             {split_drop_transferred} {
                                                           return dot %z, %z }
                                                         %t = transfer %0#0 : (m1) -> m0

    Both halves take all operands of the whole: run mpmd-fragment-dce afterwards. No operation is in
    both halves, but with `minimize-residuals` cheap ones may be. Leaves alone fragments that
    transfer nothing or everything, and those where the rest cannot be computed later: a warning
    says so, once for all microbatches. Fragments that are split already stay as they are.
    """

    name: ClassVar[str] = "mpmd-split-bwd-fragments"

    minimize_residuals: bool = option(
        False,
        "Pass as few bytes between the halves as possible: take operands again, repeat what is "
        "cheap, and split only where the rest is worth a fragment of its own.",
    )

    def run_on_flow(self, flow: Flow) -> None:
        for node in flow.nodes:
            if not node.is_fragment or transpose_count(node) != BACKWARD or _is_half(node):
                continue
            leaving = tuple(value.index for value in node.results if _leaves(node, value))
            if not 0 < len(leaving) < len(node.results):
                continue
            halves = self._halves(flow.bodies, node, leaving)
            if halves is None:
                _say_once(flow.bodies, node)
            else:
                _split(flow.bodies, Fragment(node.op), halves)

    def _halves(self, bodies: Bodies, node: Node, leaving: tuple[int, ...]) -> Halves | None:
        """Returns how to split a fragment; decides once per function and transferred results."""
        fragment = Fragment(node.op)
        if not fragment.is_call:
            return self._analyze(bodies, node, leaving)
        key = ("halves", callee_name(node.op), leaving)
        found = bodies.recall(key)
        if found is None:
            found = (self._analyze(bodies, node, leaving),)
            bodies.remember(key, found)
        halves: Halves | None = found[0]
        return halves

    def _analyze(self, bodies: Bodies, node: Node, leaving: tuple[int, ...]) -> Halves | None:
        block = Fragment(node.op).body(bodies)
        if not self.minimize_residuals:
            return plain_halves(block, leaving)
        # Weights, above all: the caller holds on to them.
        arguments = [number for number, value in enumerate(node.inputs) if value.node is None]
        return lean_halves(block, leaving, arguments)


def _is_half(node: Node) -> bool:
    return SPLIT_KEEP in node.op.attributes or SPLIT_DROP in node.op.attributes


def _leaves(node: Node, result: Value) -> bool:
    """Tells whether a result is transferred, or goes to another stage on the same mesh."""
    return any(
        user.name == TRANSFER
        or (
            user.is_fragment
            and user.stage_id() is not None
            and node.stage_id() is not None
            and user.stage_id() != node.stage_id()
        )
        for user in result.users
    )


def _say_once(bodies: Bodies, node: Node) -> None:
    """Warns that a backward stays whole, unless it does little anyway."""
    key = ("whole backward", node.mesh, node.origins)
    if bodies.recall(key) is not None:
        return
    bodies.remember(key, True)
    operations = list(Fragment(node.op).body(bodies).operations)[:-1]
    if all(is_cheap(op.operation) for op in operations):
        return
    origins = ", ".join(map(str, node.origins))
    report(
        "warning",
        node.op,
        f"the backward of {origins} on mesh '{node.mesh}' stays whole: nothing in it that is "
        "worth a fragment of its own can wait until after what it transfers",
    )


def _split(bodies: Bodies, whole: Fragment, halves: Halves) -> None:
    """Replaces a fragment by its halves, the late one right after the early one."""
    early = Fragment(whole.op.clone(ip=ir.InsertionPoint(whole.op)).operation)
    early.op.attributes[SPLIT_KEEP] = ir.UnitAttr.get()
    early = edit(
        bodies,
        early,
        halves.keep_early,
        ("early half", halves),
        results=[mesh_tensor_type(whole.mesh, type_) for type_ in halves.residual_types],
        kept=halves.leaving,
    )
    for number, result in zip(halves.leaving, early.results, strict=False):
        whole.results[number].replace_all_uses_with(result)
    whole.op.attributes[SPLIT_DROP] = ir.UnitAttr.get()
    edit(
        bodies,
        whole,
        halves.keep_late,
        ("late half", halves),
        operands=[early.results[number] for number, _ in halves.passed],
        kept=halves.staying,
    )
