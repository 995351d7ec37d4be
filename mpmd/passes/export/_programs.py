"""The distinct programs that the fragments of a module run, and what they are called."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import Origin, int_attribute
from mpmd.dialect.fragment import Bodies, Fragment
from mpmd.dialect.functions import callee_name
from mpmd.passes.export._value_attributes import ARG, RES, says_nothing

RESERVED_BYTES = "reserved_hbm_bytes"


@dataclass
class Program:
    """A computation on one mesh, and the fragments that run it, in the order of the module.

    Two fragments run the same program when their bodies, the types of their operands and results
    (with sharding and memory kind) and their `arg_attrs` and `res_attrs` agree.
    """

    body: str
    fragments: list[Fragment] = field(default_factory=list)
    name: str = ""

    @property
    def first(self) -> Fragment:
        """The fragment that gives the program its name and its types."""
        return self.fragments[0]

    @property
    def reserved_bytes(self) -> int | None:
        """The most memory that any of the fragments wants left to others."""
        found = [int_attribute(each.op, RESERVED_BYTES) for each in self.fragments]
        return max((each for each in found if each is not None), default=None)


def collect_programs(fragments: Sequence[Fragment], bodies: EqualBodies) -> list[Program]:
    """Returns the programs of fragment calls, in the order of their first call."""
    programs: dict[Hashable, Program] = {}
    for fragment in fragments:
        body = bodies.same_as(callee_name(fragment.op))
        key = (body, fragment.mesh, *_signature(fragment.op))
        program = programs.get(key)
        if program is None:
            program = programs[key] = Program(body)
        program.fragments.append(fragment)
    return list(programs.values())


class EqualBodies:
    """Finds which body functions of a module compute the same, by their text."""

    def __init__(self, bodies: Bodies) -> None:
        self._bodies = bodies
        self._first_of_text: dict[str, str] = {}
        self._same: dict[str, str] = {}

    def same_as(self, name: str) -> str:
        """Returns the first function asked for whose body equals that of function `name`."""
        found = self._same.get(name)
        if found is None:
            text = _text_without_name(self._bodies.function(name))
            found = self._same[name] = self._first_of_text.setdefault(text, name)
        return found


def _text_without_name(func: ir.Operation) -> str:
    name = func.attributes["sym_name"]
    func.attributes["sym_name"] = ir.StringAttr.get("body")
    text = str(func.get_asm(use_local_scope=True, assume_verified=True))
    func.attributes["sym_name"] = name
    return text


def _signature(op: ir.Operation) -> Iterator[Hashable]:
    attributes = op.attributes
    for name, values in ((ARG, op.operands), (RES, op.results)):
        yield tuple(value.type for value in values)
        attribute = attributes[name] if name in attributes else None
        yield None if attribute is None or says_nothing(attribute) else attribute


# --- names --------------------------------------------------------------------------------------


def program_name(program: Program, number: int, in_training: bool, module_name: str) -> str:
    """Returns a name that says what `program` is: number, stage or label, direction, call.

    The direction of forward programs is left out of modules that have no other (`in_training`).
    """
    fragment = program.first
    parts = [f"p{number}", *_place(fragment), *_directions(fragment.origins, in_training)]
    parts += _calls([each.call_counter for each in program.fragments])
    return f"{'_'.join(parts)}.{module_name}"


def _place(fragment: Fragment) -> Iterator[str]:
    names = list(dict.fromkeys(origin.name for origin in fragment.origins))
    if fragment.stage is not None:
        yield f"stage{fragment.stage}"
    elif names:
        yield min(names) + ("..." if len(names) > 1 else "")
    else:
        yield "inferred"


def _directions(origins: Sequence[Origin], in_training: bool) -> Iterator[str]:
    for count in sorted({origin.transpose_count for origin in origins}):
        if in_training:
            yield direction(count)


def _calls(counters: Sequence[int | None]) -> Iterator[str]:
    """Yields which calls a program runs, where they are one or a range counted up or down."""
    first, last = counters[0], counters[-1]
    if first is None or last is None:
        return
    if len(counters) == 1:
        yield f"call{first}"
    elif list(counters) == list(range(first, last + 1)):
        yield f"calls{first}to{last}"
    elif list(counters) == list(range(first, last - 1, -1)):
        yield f"calls{first}from{last}"


def direction(transpose_count: int) -> str:
    """Returns what a transpose count means: `fwd`, `bwd` or `transposeN`."""
    return {0: "fwd", 1: "bwd"}.get(transpose_count, f"transpose{transpose_count}")


def is_training(fragments: Sequence[Fragment]) -> bool:
    """Tells whether any of the fragments is more than a forward one."""
    return any(origin.transpose_count for each in fragments for origin in each.origins)
