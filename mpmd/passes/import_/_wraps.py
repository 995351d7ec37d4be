"""Which computations go into which fragment: the plan of a function, before any edit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from mpmd.dialect.attributes import read_mesh_tensor
from mpmd.dialect.fragment import REGION
from mpmd.dialect.purity import is_pure
from mpmd.passes.import_._mesh_graph import ASSIGN, CALL, Body, Node


@dataclass(eq=False, slots=True)
class Wrap:
    """An inferred fragment to be, or what is to be added to a fragment that is there.

    Has the computations, last one first, and the values that they take. A slot belongs to the
    computation that takes the value.
    """

    mesh: str
    members: list[Node] = field(default_factory=list)
    slots: list[tuple[int, Node]] = field(default_factory=list)

    def take(self, node: Node) -> None:
        """Computes the results of `node` inside instead of taking them."""
        made = set(node.results)
        self.slots = [(value, taker) for value, taker in self.slots if value not in made]
        self.members.append(node)
        self.slots.extend((value, node) for value in inputs(node))


class Use(NamedTuple):
    """A use outside of wraps: of an operation, or of the function's return without one."""

    node: Node | None
    number: int = 0
    mesh: str = ""


class Needs(Protocol):
    """What a plan has to know of the function."""

    max_clones: int

    def meshes(self, node: Node) -> Sequence[str]:
        """Returns where a computation goes that nothing assigned needs."""

    def assigned_mesh(self, node: Node) -> str:
        """Returns the mesh to which an operation brings its operand, if it has one."""

    def call_meshes(self, node: Node) -> Sequence[Sequence[str]]:
        """Returns on which meshes a call takes each operand; nothing where it takes all as is."""

    def result_meshes(self, index: int) -> Sequence[str]:
        """Returns on which meshes the function returns a result."""


def inputs(node: Node) -> list[int]:
    """Returns the distinct values that `node` needs, in order."""
    return list(dict.fromkeys([*node.operands, *node.captured]))


class Plan:
    """The wraps of each computation of a function.

    Goes from the last computation to the first. One that only wraps use is done inside them, when
    it is cheap (pure and of one operand at most) or there are at most `max_clones` of them;
    otherwise it gets wraps of its own, one a mesh. A fragment that is there is a wrap as well, for
    what it takes through an assign of which only fragments take the result.
    """

    def __init__(self, body: Body, needs: Needs) -> None:
        self.needs = needs
        self.wraps: dict[Node, list[Wrap]] = {}
        """The wraps that end with a computation; none where it is part of others, or dead."""
        self.users: dict[int, list[Wrap | Use]] = {}
        """Who takes a value, last one first."""
        self.dead: list[Node] = []
        """Assigns that would keep a computation alive though nothing uses them."""
        self.copies: dict[Node, int] = {}
        """In how many wraps a computation is."""
        self.grown: dict[Node, Wrap] = {}
        """The fragments that are there, and what is added to them."""
        self.sunk: dict[int, Node] = {}
        """By their result, the assigns of what is computed inside the fragments that take it."""
        self._takers = _takers_of_assigned(body)
        self._used = {value for node in body.nodes for value in (*node.operands, *node.captured)}
        self._used.update(body.returned)
        for index, value in enumerate(body.returned):
            for mesh in needs.result_meshes(index) or ("",):
                self._add_user(value, Use(None, index, mesh))
        for node in reversed(body.nodes):
            if node.is_meshless:
                self._plan(node)
            else:
                for value, use in self._uses(node):
                    self._add_user(value, use)

    def _uses(self, node: Node) -> Iterator[tuple[int, Use]]:
        needed = self.needs.call_meshes(node) if node.name == CALL else ()
        for index, value in enumerate(node.operands):
            meshes = needed[index] if needed else ()
            for mesh in meshes or ("",):
                yield value, Use(node, index, mesh)

    def _add_user(self, value: int, user: Wrap | Use) -> None:
        self.users.setdefault(value, []).append(user)

    def _plan(self, node: Node) -> None:
        users = [user for value in node.results for user in self.users.get(value, ())]
        inside = [(user, self._wraps_behind(user)) for user in users]
        dead = [user.node for user, _ in inside if isinstance(user, Use) and self._is_dead(user)]
        wraps = list(dict.fromkeys(wrap for _, behind in inside for wrap in behind))
        only_wraps = bool(wraps) and len(dead) == sum(not behind for _, behind in inside)
        if only_wraps and (len(wraps) <= self.needs.max_clones or _is_cheap(node)):
            self.dead.extend(each for each in dead if each is not None)
            for user, behind in inside:
                if isinstance(user, Use) and user.node is not None and behind:
                    self.sunk[user.node.results[0]] = user.node
        else:
            meshes = sorted({mesh for mesh in map(self.mesh_of, users) if mesh})
            if not meshes and (users or not is_pure(node.op)):
                meshes = list(self.needs.meshes(node))
            wraps = [Wrap(mesh) for mesh in meshes]
            self.wraps[node] = wraps
        self.copies[node] = len(wraps)
        for wrap in wraps:
            wrap.take(node)
            for value in inputs(node):
                self._add_user(value, wrap)

    def _wraps_behind(self, user: Wrap | Use) -> list[Wrap]:
        """Returns the wraps in which `user` needs a value, if that is all it needs it for."""
        if isinstance(user, Wrap):
            return [user]
        if user.node is None or user.node.name != ASSIGN:
            return []
        takers = self._takers.get(user.node.results[0], [])
        if any(taker is None or taker.name != REGION for taker in takers):
            return []
        mesh = self.needs.assigned_mesh(user.node)
        return [self.grown.setdefault(each, Wrap(mesh)) for each in takers if each is not None]

    def _is_dead(self, use: Use) -> bool:
        node = use.node
        return node is not None and node.name == ASSIGN and node.results[0] not in self._used

    def mesh_of(self, user: Wrap | Use) -> str:
        """Returns where a user needs a value, or an empty string where that is open."""
        if isinstance(user, Wrap) or user.mesh or user.node is None:
            return user.mesh
        return self.needs.assigned_mesh(user.node)

    def users_of(self, value: int) -> list[Wrap | Use]:
        """Returns who takes a value: what is new, the earliest first, then what was there."""
        users = list(dict.fromkeys(self.users.get(value, ())))
        new: list[Wrap | Use] = []
        old: list[Wrap | Use] = []
        for user in users:
            was_there = isinstance(user, Use) and user.node is not None and user.node.name != CALL
            (old if was_there else new).append(user)
        return [*reversed(new), *old]


def _takers_of_assigned(body: Body) -> dict[int, list[Node | None]]:
    """Returns who takes the results of assigns that are in device memory; None for the return."""
    takers: dict[int, list[Node | None]] = {}
    for node in body.nodes:
        if node.name == ASSIGN:
            parts = read_mesh_tensor(node.op.results[0].type)
            if parts is not None and parts.memory_kind is None:
                takers[node.results[0]] = []
        for value in (*node.operands, *node.captured):
            if value in takers:
                takers[value].append(node)
    for value in body.returned:
        if value in takers:
            takers[value].append(None)
    return takers


def _is_cheap(node: Node) -> bool:
    if len(node.operands) > 1 or node.captured or node.name == "stablehlo.custom_call":
        return False
    return not len(node.op.regions) and is_pure(node.op)
