"""The summary of a program: a module with one region per variant, which Shardy can propagate in.

Tied slots become one value where the order of the variants allows it: an argument of the summary,
or the result of the first variant that makes the value. Where several variants make it, and where
one takes what only a later one makes (an accumulator, a loop), a sharding group ties the values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mpmd.dialect._jaxlib import inline_call, ir
from mpmd.dialect.attributes import (
    MeshShape,
    i64,
    int_attribute,
    mesh_tensor_type,
    topology_attribute,
)
from mpmd.dialect.fragment import CALL, REGION, Bodies, local_type
from mpmd.dialect.functions import (
    argument_attributes,
    callee_name,
    entry_block,
    functions,
    is_mpmd_function,
    set_argument_attributes,
    symbol_name,
    terminator,
)
from mpmd.dialect.shardings import (
    IN,
    OUT,
    SHARDING,
    is_single_device,
    read_shardings,
    transfer_sharding,
)
from mpmd.passes.partition._flow import TRANSFER, Flow, Variant
from mpmd.passes.partition._meshes import SharedMesh, create_mesh

_MESH = "m"
_VARIANT = "variant"
# Bodies can have groups of their own, with small numbers.
_FIRST_GROUP = 1 << 32

Shardings = list[ir.Attribute | None]


@dataclass
class Summary:
    """A summary under construction, and the answers once it was propagated.

    `given` are the shardings that the user set, on slots of arguments and of returned values; the
    first on tied slots counts for the arguments.
    """

    flow: Flow
    given_arguments: Shardings
    given_results: Shardings
    module: ir.Module
    main: ir.Operation = field(init=False)
    _arguments: dict[int, int] = field(default_factory=dict)
    _values: dict[int, ir.Value] = field(default_factory=dict)
    _made: dict[int, ir.Value] = field(default_factory=dict)
    _members: dict[int, list[tuple[ir.Operation, int]]] = field(default_factory=dict)

    def build(self, bodies: Bodies, topology: ir.Attribute) -> None:
        """Fills the module: meshes and helper functions are there already."""
        flow = self.flow
        needed = self._classes_that_need_an_argument()
        types = [self._type(slot) for slot in needed]
        self.main = ir.Operation.create(
            "func.func",
            attributes={
                "sym_name": ir.StringAttr.get("main"),
                "topology": topology,
                "function_type": ir.TypeAttr.get(ir.FunctionType.get(types, [])),
            },
            regions=1,
            ip=ir.InsertionPoint(self.module.body),
        )
        unknown = ir.Location.unknown()
        block = self.main.regions[0].blocks.append(*types, arg_locs=[unknown] * len(types))
        for number, slot in enumerate(needed):
            self._arguments[slot] = number
            self._values[slot] = block.arguments[number]
        for number, variant in enumerate(flow.variants):
            # Those whose results nothing uses can be gone after propagation: do not rely on order.
            self._add(variant, block, bodies).attributes[_VARIANT] = i64(number)
        self._tie_members()
        self._finish(block)

    def _classes_that_need_an_argument(self) -> list[int]:
        made: set[int] = set()
        needed: dict[int, None] = {}
        for variant in self.flow.variants:
            for slot in variant.inputs:
                if (root := self.flow.find(slot)) not in made:
                    needed[root] = None
            made.update(map(self.flow.find, variant.outputs))
        # Shardings are given on arguments that nothing takes, too; if they do not divide a
        # dimension, propagation drops them.
        arguments = zip(self.flow.arguments, self.given_arguments, strict=True)
        for slot in (*(slot for slot, given in arguments if given), *self.flow.returned):
            if (root := self.flow.find(slot)) not in made:
                needed[root] = None
        return list(needed)

    def _type(self, slot: int) -> ir.Type:
        return mesh_tensor_type(_MESH, local_type(self.flow.values[slot]))

    def _add(self, variant: Variant, block: ir.Block, bodies: Bodies) -> ir.Operation:
        operands = [self._values[self.flow.find(slot)] for slot in variant.inputs]
        results = list(map(self._type, variant.outputs))
        if variant.first.name == TRANSFER:
            op = ir.Operation.create(
                TRANSFER, results=results, operands=operands, ip=ir.InsertionPoint(block)
            )
        else:
            op = _region_of(variant, operands, results, block, bodies)
        for number, slot in enumerate(variant.inputs):
            root = self.flow.find(slot)
            if root in self._arguments:
                self._members.setdefault(root, [(op, -1 - number)])
        for number, slot in enumerate(variant.outputs):
            root = self.flow.find(slot)
            self._made[slot] = op.results[number]
            self._values.setdefault(root, op.results[number])
            self._members.setdefault(root, []).append((op, number))
        return op

    def _tie_members(self) -> None:
        """Groups the values that one class has in several variants."""
        groups = [members for members in self._members.values() if len(members) > 1]
        for group, members in enumerate(groups):
            for op, number in members:
                _add_to_group(group, *_inside(op, number))

    def _finish(self, block: ir.Block) -> None:
        """Returns what the program returns, and sets the shardings of the boundary."""
        returned = [
            self._made.get(slot) or self._values[self.flow.find(slot)]
            for slot in self.flow.returned
        ]
        ir.Operation.create("func.return", operands=returned, ip=ir.InsertionPoint(block))
        inputs = [argument.type for argument in block.arguments]
        results = [value.type for value in returned]
        self.main.attributes["function_type"] = ir.TypeAttr.get(
            ir.FunctionType.get(inputs, results)
        )
        arguments: list[dict[str, ir.Attribute]] = [{} for _ in inputs]
        for slot, sharding in zip(self.flow.arguments, self.given_arguments, strict=True):
            number = self._arguments.get(self.flow.find(slot))
            if sharding is not None and number is not None:
                arguments[number].setdefault(SHARDING, sharding)
        set_argument_attributes(self.main, arguments)
        given = [{SHARDING: each} if each is not None else {} for each in self.given_results]
        set_argument_attributes(self.main, given, "res_attrs")

    # --- after propagation ----------------------------------------------------------------------

    def answers(self) -> Shardings:
        """Returns the sharding of each slot of a variant; None elsewhere and where unknown."""
        found: Shardings = [None] * len(self.flow.values)
        for op in entry_block(self.main).operations:
            number = int_attribute(op.operation, _VARIANT)
            if number is not None:
                self._read(op.operation, self.flow.variants[number], found)
        return found

    def _read(self, op: ir.Operation, variant: Variant, found: Shardings) -> None:
        if op.name == TRANSFER:
            found[variant.outputs[0]] = transfer_sharding(op)
            return
        for name, slots in ((IN, variant.inputs), (OUT, variant.outputs)):
            shardings = read_shardings(op, name)
            if shardings is not None:
                for slot, sharding in zip(slots, shardings, strict=True):
                    found[slot] = sharding

    def boundary_arguments(self) -> Shardings:
        """Returns what became of the shardings of arguments; None where another one given won."""
        after = argument_attributes(self.main)
        found: Shardings = []
        first: dict[int, ir.Attribute] = {}
        for slot, sharding in zip(self.flow.arguments, self.given_arguments, strict=True):
            number = self._arguments.get(self.flow.find(slot))
            if number is None:
                found.append(None)
                continue
            wins = sharding is None or first.setdefault(number, sharding) == sharding
            found.append(after[number].get(SHARDING) if wins else None)
        return found

    def boundary_results(self) -> Shardings:
        """Returns what became of the shardings given for results."""
        after = argument_attributes(self.main, "res_attrs")
        return [each.get(SHARDING) for each in after]


def _inside(op: ir.Operation, number: int) -> tuple[ir.Value, ir.Operation]:
    """Returns result `number`, or operand `-1 - number`, as a tensor inside a region, and its end.

    Groups know no mesh tensors, so next to a transfer there has to be a region for the purpose.
    """
    if op.name == TRANSFER:
        value = op.results[0] if number >= 0 else op.operands[0]
        region = ir.Operation.create(
            REGION,
            operands=[value],
            attributes=_fragment_attributes(),
            regions=1,
            ip=ir.InsertionPoint.after(op),
        )
        body = region.regions[0].blocks.append(local_type(value), arg_locs=[op.location])
        last = ir.Operation.create("mpmd.return", ip=ir.InsertionPoint(body))
        return body.arguments[0], last
    body = op.regions[0].blocks[0]
    last = terminator(body)
    return (last.operands[number] if number >= 0 else body.arguments[-1 - number]), last


def _add_to_group(group: int, value: ir.Value, last: ir.Operation) -> None:
    # A value of its own, on which no constraint can contradict the group.
    barrier = ir.Operation.create(
        "stablehlo.optimization_barrier",
        results=[value.type],
        operands=[value],
        ip=ir.InsertionPoint(last),
    )
    ir.Operation.create(
        "sdy.sharding_group",
        operands=[barrier.results[0]],
        attributes={"group_id": i64(_FIRST_GROUP + group)},
        ip=ir.InsertionPoint(last),
    )


def _fragment_attributes() -> dict[str, ir.Attribute]:
    return {"mesh_name": ir.StringAttr.get(_MESH), "origin": ir.ArrayAttr.get([])}


def _region_of(
    variant: Variant,
    operands: Sequence[ir.Value],
    results: Sequence[ir.Type],
    block: ir.Block,
    bodies: Bodies,
) -> ir.Operation:
    """Appends the body of `variant` to `block` as a region on the one mesh of the summary."""
    op = ir.Operation.create(
        REGION,
        results=list(results),
        operands=list(operands),
        attributes=_fragment_attributes(),
        regions=1,
        ip=ir.InsertionPoint(block),
    )
    if variant.first.name == CALL:
        _inline(bodies.function(callee_name(variant.first)), operands, op)
    else:
        copy = variant.first.clone(ir.InsertionPoint(block))
        copy.operation.regions[0].blocks[0].append_to(op.regions[0])
        copy.operation.erase()
    return op


def _inline(function: ir.Operation, operands: Sequence[ir.Value], op: ir.Operation) -> None:
    types = [local_type(value) for value in operands]
    body = op.regions[0].blocks.append(*types, arg_locs=[ir.Location.unknown()] * len(types))
    with ir.InsertionPoint(body):
        values = list(inline_call(function, list(body.arguments)))
        ir.Operation.create("mpmd.return", operands=values)


def make_summary(
    flow: Flow, arguments: Shardings, results: Shardings, bodies: Bodies, mesh: SharedMesh
) -> Summary:
    """Returns the summary of a program, ready for propagation."""
    module = ir.Module.create(ir.Location.unknown())
    _copy_surroundings(bodies.module, module, flow)
    topology = topology_attribute({_MESH: MeshShape(mesh.axes)})
    summary = Summary(flow, arguments, results, module)
    summary.build(bodies, topology)
    _forget_single_devices(module.operation)
    if not mesh.is_uniform:
        create_mesh(mesh.symbol, mesh.axes, ir.InsertionPoint.at_block_begin(module.body))
        _share_meshes(module.operation, mesh)
    return summary


def _copy_surroundings(source: ir.Operation, target: ir.Module, flow: Flow) -> None:
    """Copies the meshes of `source`, and the functions that its bodies can call."""
    bodies = {callee_name(each.first) for each in flow.variants if each.first.name == CALL}
    ip = ir.InsertionPoint(target.body)
    for op in source.regions[0].blocks[0].operations:
        if op.operation.name == "sdy.mesh":
            op.operation.clone(ip)
    for func in functions(source):
        if not is_mpmd_function(func) and symbol_name(func) not in bodies:
            func.clone(ip)


def _forget_single_devices(module: ir.Operation) -> None:
    """Drops the shardings that put a callback to the host on one device: Shardy knows none such."""
    names = {
        symbol_name(op.operation)
        for op in module.regions[0].blocks[0].operations
        if op.operation.name == "sdy.mesh" and is_single_device(op.operation.attributes["mesh"])
    }

    def visit(op: ir.Operation) -> ir.WalkResult:
        if SHARDING in op.attributes and any(
            f"<@{name}," in str(op.attributes[SHARDING]) for name in names
        ):
            del op.attributes[SHARDING]
        return ir.WalkResult.ADVANCE

    if names:
        module.walk(visit)


def _share_meshes(module: ir.Operation, mesh: SharedMesh) -> None:
    """Makes every sharding inside `module` one of the shared mesh."""

    def visit(op: ir.Operation) -> ir.WalkResult:
        for name, attribute in list(op.attributes.items()):
            if name in ("sharding", SHARDING, IN, OUT):
                op.attributes[name] = mesh.shared(attribute)
        return ir.WalkResult.ADVANCE

    module.walk(visit)
