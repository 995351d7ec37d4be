"""One view over both forms of a fragment.

Before outlining a fragment is `mpmd.fragment`, with its body as a region; afterwards it is
`mpmd.fragment_call`, with its body in a private function that equal fragments share. Passes see
`Fragment` and never ask which form it has; what rewrites bodies goes through `compose`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mpmd.dialect._jaxlib import inline_call, ir
from mpmd.dialect.attributes import (
    Origin,
    i64,
    int_attribute,
    origins_attribute,
    read_mesh_tensor,
    read_origins,
)
from mpmd.dialect.functions import callee_name, entry_block, is_private, symbol_name, terminator
from mpmd.dialect.purity import is_pure

REGION, CALL = "mpmd.fragment", "mpmd.fragment_call"
_INHERENT = frozenset(
    ("mesh_name", "origin", "stage_id", "callee", "in_shardings", "out_shardings")
)


class Fragment:
    """A fragment operation of either form; a handle, cheap to make, that caches nothing."""

    __slots__ = ("op",)

    def __init__(self, op: ir.Operation) -> None:
        self.op = op.operation

    @staticmethod
    def of(op: ir.Operation) -> Fragment | None:
        """Returns the view of `op`, or None where it is no fragment."""
        return Fragment(op) if op.operation.name in (REGION, CALL) else None

    @property
    def is_call(self) -> bool:
        """Whether the body is a function."""
        return self.op.name == CALL

    @property
    def mesh(self) -> str:
        """The mesh on which it runs."""
        return ir.StringAttr(self.op.attributes["mesh_name"]).value

    @property
    def origins(self) -> tuple[Origin, ...]:
        """The labels that contributed to it; empty for an inferred fragment."""
        return read_origins(self.op.attributes["origin"])

    @property
    def is_user(self) -> bool:
        """Whether a label of the user's contributed to it."""
        return bool(self.origins)

    @property
    def stage(self) -> int | None:
        """The pipeline stage, where the user assigned one."""
        return int_attribute(self.op, "stage_id")

    @property
    def call_counter(self) -> int | None:
        """The microbatch."""
        return int_attribute(self.op, "call_counter")

    @property
    def transpose_count(self) -> int | None:
        """The transpose count that all origins agree on; None for none or different ones."""
        counts = {origin.transpose_count for origin in self.origins}
        return counts.pop() if len(counts) == 1 else None

    @property
    def operands(self) -> list[ir.Value]:
        """The mesh tensors that it takes."""
        return list(self.op.operands)

    @property
    def results(self) -> list[ir.Value]:
        """The mesh tensors that it makes."""
        return list(self.op.results)

    @property
    def discardable(self) -> dict[str, ir.Attribute]:
        """The attributes that are not part of the operation's definition."""
        return {k: v for k, v in self.op.attributes.items() if k not in _INHERENT}

    def body(self, bodies: Bodies) -> ir.Block:
        """Returns the block that computes the results from local tensors.

        Of a call it is shared with the other calls of the same function: read it, never change it.
        """
        if not self.is_call:
            return self.op.regions[0].blocks[0]
        return entry_block(bodies.function(callee_name(self.op)))

    def __repr__(self) -> str:
        origins = ", ".join(map(str, self.origins)) or "inferred"
        return f"<Fragment {origins} on {self.mesh}>"


def fragments(block: ir.Block) -> Iterator[Fragment]:
    """Yields the fragments of `block` in order; safe against erasure of what was yielded."""
    for op in list(block.operations):
        if op.operation.name in (REGION, CALL):
            yield Fragment(op)


@dataclass
class Bodies:
    """The body functions of a module, and a memory of what was composed of them.

    Make one per pass run. The 64th identical rewrite is a dictionary hit: that is why a microbatch
    costs a few operations and no body.
    """

    module: ir.Operation
    _functions: dict[str, ir.Operation] = field(default_factory=dict)
    _composed: dict[object, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for op in self.module.regions[0].blocks[0].operations:
            if "sym_name" in op.operation.attributes:
                self._functions[symbol_name(op.operation)] = op.operation

    def function(self, name: str) -> ir.Operation:
        """Returns the function named `name`."""
        return self._functions[name]

    def unique_name(self, hint: str) -> str:
        """Returns `hint`, or `hint_N` with the first N that is free."""
        name, count = hint, 0
        while name in self._functions:
            name, count = f"{hint}_{count}", count + 1
        return name

    def add_function(
        self, hint: str, inputs: Sequence[ir.Type], attributes: Mapping[str, ir.Attribute]
    ) -> tuple[str, ir.Block]:
        """Appends a private function without operations; returns its name and its block.

        The caller fills the block, terminates it with `func.return` and calls
        `update_function_type`.
        """
        name = self.unique_name(hint)
        func = ir.Operation.create(
            "func.func",
            attributes={
                **attributes,
                "sym_name": ir.StringAttr.get(name),
                "sym_visibility": ir.StringAttr.get("private"),
                "function_type": ir.TypeAttr.get(ir.FunctionType.get(list(inputs), [])),
            },
            regions=1,
            ip=ir.InsertionPoint(self.module.regions[0].blocks[0]),
        )
        unknown = ir.Location.unknown()
        block = func.regions[0].blocks.append(*inputs, arg_locs=[unknown] * len(inputs))
        self._functions[name] = func
        return name, block

    def composed(self, key: object) -> str | None:
        """Returns the function composed before under `key`."""
        return self._composed.get(key)

    def remember(self, key: object, name: str) -> None:
        """Records that `key` is composed by function `name`."""
        self._composed[key] = name

    def erase_unused(self) -> None:
        """Erases private functions that nothing refers to, and those that only they used."""
        used: dict[str, int] = {}
        users: dict[str, list[str]] = {}
        for name, func in self._functions.items():
            for callee in _callees(func):
                users.setdefault(name, []).append(callee)
                used[callee] = used.get(callee, 0) + 1
        pending = [n for n, f in self._functions.items() if is_private(f) and not used.get(n)]
        while pending:
            name = pending.pop()
            for callee in users.get(name, []):
                used[callee] -= 1
                if not used[callee] and is_private(self._functions[callee]):
                    pending.append(callee)
            self._functions.pop(name).erase()
        self._composed = {k: n for k, n in self._composed.items() if n in self._functions}


def _callees(func: ir.Operation) -> list[str]:
    found: list[str] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if "callee" in op.attributes:
            found.append(callee_name(op))
        return ir.WalkResult.ADVANCE

    func.walk(visit)
    return found


ARGUMENT = -1
"""In a wiring: not a result of a part but an operand of the composed fragment."""

Wire = tuple[int, int]
"""(part, result number), or (ARGUMENT, operand number)."""


def compose(
    bodies: Bodies,
    parts: Sequence[Fragment],
    operands: Sequence[ir.Value],
    wiring: Sequence[Sequence[Wire]],
    outputs: Sequence[Wire],
    *,
    mesh: str,
    origins: Sequence[Origin],
    stage: int | None = None,
    attributes: Mapping[str, ir.Attribute] | None = None,
    ip: ir.InsertionPoint,
    name: str | None = None,
    loc: ir.Location | None = None,
) -> Fragment:
    """Creates the fragment that runs the bodies of `parts` in order, wired together.

    `wiring[p][i]` says where operand i of part p comes from, `outputs` what the new fragment
    returns. This one function merges fragments, drops and duplicates operands and results, and
    inlines one fragment into another. What the outputs do not need is left out of the body.

    Regions are *moved*, so the caller must replace the results of `parts` and erase them (fragment
    calls stay usable, their functions are shared). When all parts are calls the result is a call,
    and its function is made once per distinct (functions, wiring). `name` names that function;
    `loc` defaults to the location of the last part.
    """
    result_types = [
        operands[index].type if part == ARGUMENT else parts[part].op.results[index].type
        for part, index in outputs
    ]
    inherent: dict[str, ir.Attribute] = {
        "mesh_name": ir.StringAttr.get(mesh),
        "origin": origins_attribute(origins),
    }
    if stage is not None:
        inherent["stage_id"] = i64(stage)
    as_call = bool(parts) and all(part.is_call for part in parts)
    if as_call:
        inherent["callee"] = ir.FlatSymbolRefAttr.get(
            _composed_function(bodies, parts, operands, wiring, outputs, name)
        )
    op = ir.Operation.create(
        CALL if as_call else REGION,
        results=result_types,
        operands=list(operands),
        attributes={**(attributes or {}), **inherent},
        regions=0 if as_call else 1,
        ip=ip,
        loc=loc or (parts[-1].op.location if parts else ir.Location.unknown()),
    )
    if not as_call:
        inputs = [_local_type(operand) for operand in operands]
        block = op.regions[0].blocks.append(
            *inputs, arg_locs=[ir.Location.unknown()] * len(inputs)
        )
        _fill(bodies, block, parts, wiring, outputs, "mpmd.return")
    return Fragment(op)


def _local_type(value: ir.Value) -> ir.Type:
    parts = read_mesh_tensor(value.type)
    assert parts is not None, f"a fragment takes mesh tensors, not {value.type}"
    return parts.tensor


def _composed_function(
    bodies: Bodies,
    parts: Sequence[Fragment],
    operands: Sequence[ir.Value],
    wiring: Sequence[Sequence[Wire]],
    outputs: Sequence[Wire],
    name: str | None,
) -> str:
    callees = tuple(callee_name(part.op) for part in parts)
    key = (callees, len(operands), tuple(map(tuple, wiring)), tuple(outputs))
    found = bodies.composed(key)
    if found is not None:
        return found
    first = bodies.function(callees[0])
    shape = {k: v for k, v in first.attributes.items() if k == "mesh_shape"}
    inputs = [_local_type(operand) for operand in operands]
    new, block = bodies.add_function(name or callees[-1], inputs, shape)
    _fill(bodies, block, parts, wiring, outputs, "func.return")
    func = bodies.function(new)
    results = [value.type for value in terminator(block).operands]
    func.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, results))
    bodies.remember(key, new)
    return new


def _fill(
    bodies: Bodies,
    block: ir.Block,
    parts: Sequence[Fragment],
    wiring: Sequence[Sequence[Wire]],
    outputs: Sequence[Wire],
    return_name: str,
) -> None:
    """Puts the bodies of `parts` into an empty `block`, and a return of the outputs."""
    arguments = list(block.arguments)
    made: list[list[ir.Value]] = []

    def value(wire: Wire) -> ir.Value:
        part, index = wire
        return arguments[index] if part == ARGUMENT else made[part][index]

    for part, wires in zip(parts, wiring, strict=True):
        inputs = [value(wire) for wire in wires]
        if part.is_call:
            callee = bodies.function(callee_name(part.op))
            with ir.InsertionPoint(block):
                made.append(list(inline_call(callee, inputs)))
        else:
            made.append(_move_body(part.body(bodies), inputs, block))
    ir.Operation.create(
        return_name, operands=[value(wire) for wire in outputs], ip=ir.InsertionPoint(block)
    )
    erase_dead(block)


def _move_body(body: ir.Block, inputs: Sequence[ir.Value], target: ir.Block) -> list[ir.Value]:
    """Moves all but the terminator of `body` to the end of `target`; returns what it returned."""
    for argument, replacement in zip(body.arguments, inputs, strict=True):
        argument.replace_all_uses_with(replacement)
    *ops, last = list(body.operations)
    for op in ops:
        target.append(op)
    returned = list(last.operation.operands)
    # The body is left with a return of values that it no longer defines: make it valid to erase.
    last.operation.erase()
    return returned


def erase_dead(block: ir.Block) -> None:
    """Erases the operations of `block` that are pure and unused, last to first."""
    for op in reversed(list(block.operations)[:-1]):
        operation = op.operation
        if not any(True for result in operation.results for _ in result.uses) and is_pure(operation):
            operation.erase()
