"""mpmd-enforce-user-shardings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.fragment import Fragment
from mpmd.dialect.functions import argument_attributes, entry_block, is_entry_point, terminator
from mpmd.dialect.shardings import IN, OUT, SHARDING, set_sharding, set_transfer_sharding
from mpmd.passes.base import FunctionPass


@dataclass(frozen=True)
class EnforceUserShardings(FunctionPass):
    """Makes the fragments at the boundary agree with the shardings of the function's arguments.

    Propagation is free to pick another sharding where two users' shardings contradict each other.
    At the boundary the user wins: the fragments that take an argument take it as it comes, and the
    fragment or transfer that makes a returned value makes it as it has to leave; who else uses the
    value follows. What has to be resharded is resharded inside the fragment:

        func @main(%arg0: !m {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) ...
          %0 = mpmd.fragment<mesh="m", in_shardings=[<@mesh, [{"y"}]>], ...> (%arg0)
        ~~>
          %0 = mpmd.fragment<mesh="m", in_shardings=[<@mesh, [{"x"}]>], ...> (%arg0)

    Of a value returned twice with different shardings the last one counts.
    """

    name: ClassVar[str] = "mpmd-enforce-user-shardings"

    def applies_to(self, func: ir.Operation) -> bool:
        return is_entry_point(func)

    def run_on_function(self, func: ir.Operation) -> None:
        block = entry_block(func)
        for argument, attributes in zip(block.arguments, argument_attributes(func), strict=True):
            if SHARDING in attributes:
                _enforce_on_users(argument, attributes[SHARDING])
        returned = list(terminator(block).operands)
        for value, attributes in zip(returned, argument_attributes(func, "res_attrs"), strict=True):
            if SHARDING in attributes:
                _enforce_on_producer(value, attributes[SHARDING])


def _enforce_on_producer(value: ir.Value, sharding: ir.Attribute) -> None:
    if not isinstance(value, ir.OpResult):
        return
    producer = value.owner.operation
    if Fragment.of(producer):
        set_sharding(producer, OUT, value.result_number, sharding)
    elif producer.name == "mpmd.transfer":
        set_transfer_sharding(producer, sharding)
    else:
        return
    _enforce_on_users(value, sharding)


def _enforce_on_users(value: ir.Value, sharding: ir.Attribute) -> None:
    for use in value.uses:
        user = use.owner.operation
        if Fragment.of(user):
            set_sharding(user, IN, use.operand_number, sharding)
