"""Plans a resharding transfer from steps that never wait on the issuing thread.

`jax.device_put` to another layout blocks its thread until the source exists. Here a transfer is at
most a compiled program on the source devices, a copy of whole shards, and a compiled program on the
destination devices; all three are asynchronous.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mpmd.dialect.ifrt import DEVICE_MESH, ArrayType, FragmentModule, ShardingParam, device_mesh


@dataclass(frozen=True)
class ReshardPlan:
    """The layouts that an array takes on its way: equal neighbours need no program between them."""

    source: ArrayType
    sent: ArrayType
    received: ArrayType
    target: ArrayType

    @property
    def picks(self) -> tuple[int, ...]:
        """For each destination device, the position of the source device whose shard it gets."""
        return pick_shards(self.sent, self.received)


def plan_reshard(source: ArrayType, target: ArrayType) -> ReshardPlan:
    """Returns the cheapest plan that moves no shard more often than needed."""
    if source.devices == target.devices:
        return ReshardPlan(source, target, target, target)
    if source.sharding.dim_shards == target.sharding.dim_shards:
        return ReshardPlan(source, source, target, target)
    few, many = len(source.devices), len(target.devices)
    to_target = few % target.sharding.num_shards == 0
    from_source = many % source.sharding.num_shards == 0
    if to_target and from_source:
        # The side with more shards sends smaller ones.
        to_target = target.sharding.num_shards >= source.sharding.num_shards
    if to_target:
        return ReshardPlan(source, _laid_out(source, target.sharding, few), target, target)
    if from_source:
        return ReshardPlan(source, source, _laid_out(target, source.sharding, many), target)
    whole = ShardingParam.replicated(len(source.shape), few)
    sent, received = (_laid_out(end, whole, len(end.devices)) for end in (source, target))
    return ReshardPlan(source, sent, received, target)


def pick_shards(source: ArrayType, target: ArrayType) -> tuple[int, ...]:
    """Returns, for each destination device, the position of a source device with its shard.

    Copies of a shard are taken in turn, so that no source device sends to all destinations.
    """
    holders: dict[int, list[int]] = {}
    for position, shard in enumerate(source.sharding.shard_of_device()):
        holders.setdefault(shard, []).append(position)
    turns = dict.fromkeys(holders, 0)
    picks = []
    for shard in target.sharding.shard_of_device():
        picks.append(holders[shard][turns[shard] % len(holders[shard])])
        turns[shard] += 1
    return tuple(picks)


def reshard_module(
    sources: Sequence[ArrayType], targets: Sequence[ArrayType], donate: bool = False
) -> FragmentModule:
    """Returns a program that takes arrays from one layout to another on the same devices."""
    tensors = [source.tensor_text() for source in sources]
    arguments, results = [], []
    for index, (source, target) in enumerate(zip(sources, targets, strict=True)):
        before, after = (
            f"sdy.sharding = {end.sharding.sdy_text(DEVICE_MESH)}" for end in (source, target)
        )
        alias = f"tf.aliasing_output = {index} : i32, " if donate else ""
        arguments.append(f"%arg{index}: {tensors[index]} {{{alias}{before}}}")
        results.append(f"{tensors[index]} {{{after}}}")
    names = ", ".join(f"%arg{index}" for index in range(len(sources)))
    num_devices = len(sources[0].devices)
    text = (
        f"module {{\n  {device_mesh(num_devices)}\n"
        f"  func.func public @main({', '.join(arguments)}) -> ({', '.join(results)}) {{\n"
        f"    return {names} : {', '.join(tensors)}\n  }}\n}}\n"
    )
    return FragmentModule("mpmd.reshard", text, num_devices, has_host_callback=False)


def _laid_out(end: ArrayType, sharding: ShardingParam, num_devices: int) -> ArrayType:
    """Returns the array on its own devices with as many shards as `sharding`."""
    if len(end.devices) == sharding.num_devices:
        laid_out = sharding
    else:
        laid_out = ShardingParam.in_order(sharding.dim_shards, num_devices)
    return ArrayType(end.shape, end.dtype, laid_out, end.devices, end.memory_kind)
