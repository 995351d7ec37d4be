"""mpmd-extract-reshards-from-inter-mesh-transfers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import MeshShape, mesh_of
from mpmd.dialect.fragment import Bodies, Fragment
from mpmd.dialect.functions import (
    argument_attributes,
    entry_block,
    functions,
    is_mpmd_function,
    topology_of,
)
from mpmd.dialect.shardings import (
    IN,
    OUT,
    SHARDING,
    equivalent,
    local_elements,
    producer,
    read_shardings,
    set_sharding,
    set_transfer_sharding,
    shape_of,
    sharding_of_type,
    transfer_sharding,
    unreduced_axes,
)
from mpmd.passes.base import Pass
from mpmd.passes.partition._meshes import SharedMesh, shared_mesh
from mpmd.passes.partition._reshard import create_reshard


@dataclass(frozen=True)
class ExtractReshardsFromInterMeshTransfers(Pass):
    """Moves resharding out of transfers, into the fragments before or after them.

    A transfer between meshes of one shape then copies shard by shard, device to device, and the
    resharding is a collective inside one mesh. It goes to the side where the transferred shard is
    smaller: to the producer where the result is split into smaller shards than the operand, to the
    consumers otherwise. A fragment on that side takes over the resharding; other uses, and values
    that no fragment makes, get a fragment of their own that does nothing else:

        %1 = mpmd.transfer {sdy.sharding = [{"y"}]} %0          // %0 is [{"x"}]
        return %1
        ~~>
        %1 = mpmd.transfer {sdy.sharding = [{"x"}]} %0
        %2 = mpmd.fragment<mesh="m2", origin=[], out_shardings=[{"y"}]> (%1) { return }
        return %2

    A partial sum is summed before it is transferred. Does nothing where the meshes differ in
    shape: there, a transfer has to reshard anyway.
    """

    name: ClassVar[str] = "mpmd-extract-reshards-from-inter-mesh-transfers"

    def run(self, module: ir.Operation) -> None:
        bodies = Bodies(module)
        for func in functions(module):
            if is_mpmd_function(func):
                shapes = topology_of(func)
                if len({shape.axes for shape in shapes.values()}) == 1:
                    _Extraction(func, bodies, shapes, shared_mesh(module, shapes)).run()


@dataclass
class _Extraction:
    func: ir.Operation
    bodies: Bodies
    shapes: dict[str, MeshShape]
    mesh: SharedMesh | None
    arguments: list[ir.Attribute | None] = field(init=False)

    def __post_init__(self) -> None:
        self.arguments = [each.get(SHARDING) for each in argument_attributes(self.func)]

    def run(self) -> None:
        for op in list(entry_block(self.func).operations):
            transfer = op.operation
            if transfer.name != "mpmd.transfer":
                continue
            source = self.sharding_of(transfer.operands[0])
            target = transfer_sharding(transfer)
            if equivalent(source, target):
                continue
            if unreduced_axes(source) and not unreduced_axes(target):
                self.insert_before(transfer, target)
            elif self.is_smaller(transfer, target, source):
                self.reshard_on_producer(transfer, source, target)
            else:
                self.reshard_on_consumers(transfer, source, target)

    def sharding_of(self, value: ir.Value) -> ir.Attribute | None:
        if isinstance(value, ir.BlockArgument):
            return self.arguments[value.arg_number] or sharding_of_type(value.type)
        made_by = producer(value)
        assert made_by is not None
        if made_by.name == "mpmd.transfer":
            return transfer_sharding(made_by)
        shardings = read_shardings(made_by, OUT)
        return shardings[ir.OpResult(value).result_number] if shardings else None

    def is_smaller(
        self, transfer: ir.Operation, target: ir.Attribute | None, source: ir.Attribute | None
    ) -> bool:
        value = transfer.results[0]
        mesh = mesh_of(value)
        assert mesh is not None
        sizes = dict(self.shapes[mesh].axes)
        shape = shape_of(value)
        return local_elements(target, shape, sizes) < local_elements(source, shape, sizes)

    def as_one_of(self, value: ir.Value, sharding: ir.Attribute | None) -> ir.Attribute | None:
        """Returns `sharding`, of a value on another mesh, as one of the mesh of `value`."""
        if sharding is None or self.mesh is None:
            return sharding
        mesh = mesh_of(value)
        assert mesh is not None
        return self.mesh.fitted(self.mesh.shared(sharding), mesh, shape_of(value))

    def insert_before(self, transfer: ir.Operation, sharding: ir.Attribute | None) -> None:
        """Reshards the operand of one transfer, for it alone."""
        value = transfer.operands[0]
        own = self.as_one_of(value, sharding)
        reshard = create_reshard(self.bodies, value, own, ir.InsertionPoint(transfer))
        transfer.operands[0] = reshard.results[0]

    def reshard_on_producer(
        self,
        transfer: ir.Operation,
        source: ir.Attribute | None,
        target: ir.Attribute | None,
    ) -> None:
        value = transfer.operands[0]
        made_by = producer(value)
        if made_by is None or Fragment.of(made_by) is None:
            self.insert_before(transfer, target)
            return
        own = self.as_one_of(value, target)
        assert own is not None, "an unsplit value has no smaller shards"
        set_sharding(made_by, OUT, ir.OpResult(value).result_number, own)
        others = [use for use in _other_users(value) if use.owner.operation != transfer]
        late = all(transfer.is_before_in_block(use.owner.operation) for use in others)
        place = ir.InsertionPoint(transfer) if late else ir.InsertionPoint.after(made_by)
        self.restore(value, others, source, place)

    def reshard_on_consumers(
        self,
        transfer: ir.Operation,
        source: ir.Attribute | None,
        target: ir.Attribute | None,
    ) -> None:
        value = transfer.results[0]
        own = self.as_one_of(value, source)
        set_transfer_sharding(transfer, own)
        if own is not None:
            for use in value.uses:
                if Fragment.of(use.owner.operation):
                    set_sharding(use.owner.operation, IN, use.operand_number, own)
        self.restore(value, _other_users(value), target, ir.InsertionPoint.after(transfer))

    def restore(
        self,
        value: ir.Value,
        users: list[ir.OpOperand],
        sharding: ir.Attribute | None,
        ip: ir.InsertionPoint,
    ) -> None:
        """Gives `users` the sharding that `value` had before."""
        if users:
            reshard = create_reshard(self.bodies, value, sharding, ip)
            for use in users:
                use.owner.operation.operands[use.operand_number] = reshard.results[0]


def _other_users(value: ir.Value) -> list[ir.OpOperand]:
    """Returns the uses of `value` by other operations than fragments, which can reshard."""
    return [use for use in value.uses if Fragment.of(use.owner.operation) is None]
