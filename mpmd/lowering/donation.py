"""Which operands a call consumes, as its function says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.donation import ALIASING_OUTPUT, BUFFER_DONOR, is_donated
from mpmd.dialect.functions import argument_attributes

Attributes = dict[str, ir.Attribute]


def marked_donated(attributes: Attributes) -> Attributes:
    """Returns the attributes of an argument of the IFRT function."""
    kept = {k: v for k, v in attributes.items() if k not in (ALIASING_OUTPUT, BUFFER_DONOR)}
    return {**kept, "ifrt.donated": ir.UnitAttr.get()} if is_donated(attributes) else kept


@dataclass(frozen=True)
class Donation:
    """The operands that calls of a function consume: aliased with a result, or just donated."""

    aliases: tuple[tuple[int, int], ...] = ()
    donated: tuple[int, ...] = ()

    @classmethod
    def of(cls, func: ir.Operation) -> Donation:
        """Returns what the arguments of `func` say."""
        aliases, donated = [], []
        for number, attributes in enumerate(argument_attributes(func)):
            if ALIASING_OUTPUT in attributes:
                aliases.append((number, ir.IntegerAttr(attributes[ALIASING_OUTPUT]).value))
            elif is_donated(attributes):
                donated.append(number)
        return cls(tuple(aliases), tuple(donated))

    def without_repeated(self, operands: Sequence[ir.Value]) -> Donation:
        """Leaves out operands that the call also takes in another place."""
        if not (self.aliases or self.donated) or len(set(operands)) == len(operands):
            return self
        counts: dict[ir.Value, int] = {}
        for operand in operands:
            counts[operand] = counts.get(operand, 0) + 1
        return Donation(
            tuple(each for each in self.aliases if counts[operands[each[0]]] == 1),
            tuple(each for each in self.donated if counts[operands[each]] == 1),
        )

    def attributes(self) -> Attributes:
        """Returns the attributes of an `ifrt.Call`."""
        return {
            "donated_input_indices": ir.DenseI32ArrayAttr.get(list(self.donated)),
            "io_aliases": ir.ArrayAttr.get(
                [ir.DenseI32ArrayAttr.get(list(each)) for each in self.aliases]
            ),
        }
