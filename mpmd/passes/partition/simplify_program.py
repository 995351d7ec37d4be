"""mpmd-simplify-program."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from mpmd.dialect._jaxlib import ir, passmanager
from mpmd.dialect.fragment import (
    ARGUMENT,
    REGION,
    Bodies,
    Fragment,
    Wire,
    compose,
    fragments,
    is_used,
    prune,
)
from mpmd.dialect.functions import callee_name, entry_block, functions, is_mpmd_function, terminator
from mpmd.dialect.purity import is_pure
from mpmd.passes.base import Pass


@dataclass(frozen=True)
class SimplifyProgram(Pass):
    """Merges equal operations in bodies and drops what fragments take and return for nothing.

    Of each fragment go: a result equal to another or to an operand, if its type is too; an operand
    passed twice; results that nobody uses, with all that only they need; unused transfers too. What
    remains of a fragment that only passed values on is nothing. Where types differ, a fragment that
    looks idle reshards, and stays:

        %0:2 = mpmd.fragment<mesh="m"> (%a, %a) (%x, %y) { mpmd.return %x, %y }
        return %0#0, %0#1 ~~> return %a, %a
    """

    name: ClassVar[str] = "mpmd-simplify-program"

    def run(self, module: ir.Operation) -> None:
        _merge_equal_operations(module)
        bodies = Bodies(module)
        changed = False
        for func in functions(module):
            if is_mpmd_function(func):
                changed |= _Simplification(bodies).run(entry_block(func))
        if changed:
            bodies.erase_unused()
            _merge_equal_operations(module)


def _merge_equal_operations(module: ir.Operation) -> None:
    """Runs common subexpression elimination inside fragments and in all other functions."""
    inside = passmanager.PassManager.parse(f"func.func({REGION}(cse))", module.context)
    whole = passmanager.PassManager.parse("func.func(cse)", module.context)
    for func in functions(module):
        pipeline = inside if is_mpmd_function(func) else whole
        pipeline.enable_verifier(False)
        pipeline.run(func)


@dataclass
class _Simplification:
    bodies: Bodies
    changed: bool = False
    _returned: dict[str, list[Wire]] = field(default_factory=dict)

    def run(self, block: ir.Block) -> bool:
        """Simplifies `block`; tells whether that changed anything."""
        for fragment in fragments(block):
            self.forward(fragment)
        for fragment in fragments(block):
            self.merge_operands(fragment)
        for op in reversed(list(block.operations)):
            if (found := Fragment.of(op.operation)) is not None:
                self.drop_unused(found)
            elif not any(map(is_used, op.operation.results)) and is_pure(op.operation):
                op.operation.erase()
                self.changed = True
        return self.changed

    def forward(self, fragment: Fragment) -> None:
        """Replaces results that equal an operand or an earlier result, type included."""
        returned = self.returned(fragment)
        if len(set(returned)) == len(returned) and all(part != ARGUMENT for part, _ in returned):
            return
        operands, results = fragment.operands, fragment.results
        seen: dict[tuple[Wire, ir.Type], ir.Value] = {}
        for wire, result in zip(returned, results, strict=True):
            part, index = wire
            if part == ARGUMENT and operands[index].type == result.type:
                self.replace(result, operands[index])
            else:
                first = seen.setdefault((wire, result.type), result)
                if first != result:
                    self.replace(result, first)

    def replace(self, result: ir.Value, replacement: ir.Value) -> None:
        result.replace_all_uses_with(replacement)
        self.changed = True

    def returned(self, fragment: Fragment) -> list[Wire]:
        """Returns which argument or value of the body each result is; read once per function."""
        if not fragment.is_call:
            return _returned(fragment.body(self.bodies))
        callee = callee_name(fragment.op)
        if callee not in self._returned:
            self._returned[callee] = _returned(fragment.body(self.bodies))
        return self._returned[callee]

    def merge_operands(self, fragment: Fragment) -> None:
        """Makes a fragment take each value once."""
        operands = fragment.operands
        unique = list(dict.fromkeys(operands))
        if len(unique) == len(operands):
            return
        position = {value: index for index, value in enumerate(unique)}
        wiring = [(ARGUMENT, position[value]) for value in operands]
        new = compose(
            self.bodies,
            [fragment],
            unique,
            [wiring],
            [(0, index) for index in range(len(fragment.results))],
            mesh=fragment.mesh,
            origins=fragment.origins,
            stage=fragment.stage,
            attributes=fragment.discardable,
            ip=ir.InsertionPoint(fragment.op),
        )
        for old, result in zip(fragment.results, new.results, strict=True):
            old.replace_all_uses_with(result)
        fragment.op.erase()
        self.changed = True

    def drop_unused(self, fragment: Fragment) -> None:
        """Drops unused results and operands, or the fragment when no result is left."""
        results = fragment.results
        keep = list(map(is_used, results))
        if not any(keep):
            if fragment.is_pure(self.bodies):
                fragment.op.erase()
                self.changed = True
                return
            returned = self.returned(fragment)
            keep = [wire not in returned[:number] for number, wire in enumerate(returned)]
        pruned = prune(self.bodies, fragment, keep, ir.InsertionPoint(fragment.op))
        if pruned is None:
            return
        kept = (result for result, stays in zip(results, keep, strict=True) if stays)
        for old, result in zip(kept, pruned[0].results, strict=True):
            old.replace_all_uses_with(result)
        fragment.op.erase()
        self.changed = True


def _returned(body: ir.Block) -> list[Wire]:
    wires: list[Wire] = []
    numbers: dict[ir.Value, int] = {}
    for value in terminator(body).operands:
        if isinstance(value, ir.BlockArgument):
            wires.append((ARGUMENT, value.arg_number))
        else:
            wires.append((0, numbers.setdefault(value, len(numbers))))
    return wires
