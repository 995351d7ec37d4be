"""What of a program a schedule can order where the data contradict the whole of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mpmd.passes.optimize._order import ProgramOrder
from mpmd.passes.optimize._scheduling_units import Unit


def in_rounds(order: ProgramOrder, units: Sequence[Unit]) -> list[list[Unit]]:
    """Splits units where a forward needs what a backward makes: another step, or an evaluation.

    A step that updates weights, and computations with the new weights after it, are two rounds,
    each of which can be pipelined. Data never lead from a round to an earlier one.
    """
    by_position = {unit.position: unit for unit in units}
    rounds: dict[int, list[Unit]] = {}
    # The round, and whether a backward of it came before.
    state = [(0, False)] * len(order.ops)
    for position in order.by_data():
        round_, is_past_backward = state[position]
        unit = by_position.get(position)
        if unit is not None:
            if unit.is_forward and is_past_backward:
                round_, is_past_backward = round_ + 1, False
            elif not unit.is_forward:
                is_past_backward = True
            rounds.setdefault(round_, []).append(unit)
        for user in order.users(position):
            state[user] = max(state[user], (round_, is_past_backward))
    return [sorted(rounds[each], key=lambda unit: unit.position) for each in sorted(rounds)]


def outermost(order: ProgramOrder, units: Sequence[Unit], has_stages: bool) -> list[Unit]:
    """Returns the units but those of a mesh that a microbatch comes back to, as to tied weights.

    Of the forwards of a microbatch on one mesh those stay that need no other one by way of another
    mesh; of its backwards those that no other one needs. What is between them comes as data say.
    """
    by_position = {unit.position: unit for unit in units}
    groups: dict[tuple[str, int, bool, int | None], list[Unit]] = {}
    for unit in units:
        stage = unit.stage if has_stages else None
        groups.setdefault((unit.mesh, unit.microbatch, unit.is_forward, stage), []).append(unit)
    dropped: set[int] = set()
    for group in groups.values():
        members = {unit.position for unit in group}
        for unit in group if len(group) > 1 else ():
            back = members.intersection(_reached_by_other_meshes(order, unit, by_position))
            dropped.update(back if unit.is_forward or not back else (unit.position,))
    return [unit for unit in units if unit.position not in dropped]


def _reached_by_other_meshes(
    order: ProgramOrder, start: Unit, by_position: dict[int, Unit]
) -> Iterator[int]:
    """Yields what needs `start` through units of its microbatch on other meshes."""
    pending, seen = [(start.position, False)], {(start.position, False)}
    while pending:
        position, was_away = pending.pop()
        for user in order.users(position):
            unit, away = by_position.get(user), was_away
            if unit is not None:
                other = unit.microbatch != start.microbatch or unit.is_forward != start.is_forward
                if other:
                    continue
                away = away or unit.mesh != start.mesh
            if (user, away) not in seen:
                seen.add((user, away))
                pending.append((user, away))
                if away:
                    yield user
