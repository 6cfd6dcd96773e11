"""Rotation: earliest eligible virtual deadline first, in integers.

Each member has a place in virtual time, its next turn; taking one moves it on by its stride, `SECOND // weight`. The
group's clock follows the places of those on duty. Only the picked member and the group change, so a skip costs nobody a
turn; nobody is owed more than two turns, so a return brings no flood. Doubles carry these integers exactly up to 2^53.

Two who are on duty all the time, and able for every lead, never differ by more than 1/w + 1/w leads per weight. Two who
came later can, once, by a few more: where a third, far ahead, joins them, it lifts the mean at which debts are cut.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from operator import mul

from lead_router.core.duty import Moment, on_duty
from lead_router.core.model import Group, Member, Turn

SECOND = 1_000_000_000  # virtual time that a member of weight 1 moves on by one turn
OWED_TURNS = 2


def stride(member: Member) -> int:
    """How far one turn moves the member on."""
    return SECOND // member.weight


def take_turn(group: Group, duty: Collection[str], eligible: Collection[str]) -> Turn | None:
    """The group's next turn, among the members (by id) of `eligible` that are on `duty`; None if there are none.

    Members of weight 0 are on no duty. The answer depends on the group's rows, not on their order.
    """
    on = [member for member in group.members if member.id in duty and member.weight > 0]
    able = [member for member in on if member.id in eligible]
    if not able:
        return None
    start = _starts(group.clock, on)
    clock = max(group.clock, min(start.values()))
    ready = _ready(on, able, start)
    picked = min(ready, key=lambda member: _order(member, start[member.id]))
    return _taken(group, picked, start[picked.id] + stride(picked), clock)


def who_is_next(group: Group, turns: int, moment: Moment | None = None) -> tuple[Member, ...]:
    """Who would get the next turns if all who are on duty now stay so and take every lead; empty if nobody is."""
    duty = on_duty(group, moment)
    found: list[Member] = []
    while len(found) < turns and (turn := take_turn(group, duty, duty)) is not None:
        found.append(turn.member)
        group = turn.group
    return tuple(found)


def in_order(group: Group, ids: Collection[str] | None = None) -> tuple[Member, ...]:
    """All members, or those of `ids`, by their next deadlines if all were on duty; those of weight 0 last."""
    on = [member for member in group.members if member.weight > 0]
    start = _starts(group.clock, on) if on else {}
    asked = [member for member in group.members if ids is None or member.id in ids]
    paused = sorted((one for one in asked if one.weight <= 0), key=lambda one: (one.sort_order, one.id))
    coming = [member for member in asked if member.weight > 0]
    return (*sorted(coming, key=lambda member: _order(member, start[member.id])), *paused)


def gaps(clock: int, duty: Sequence[Member]) -> dict[str, float]:
    """By how many leads each of those on duty, with a weight, is ahead of its fair share; negative where behind.

    That is its distance from the mean of all, by weight, in its own strides: where all are on duty all the time, what
    it was given less what its weight is due.
    """
    if not duty:
        return {}
    start = _starts(clock, list(duty))
    middle = _mean(duty, [*start.values()])
    return {member.id: (start[member.id] - middle) / stride(member) for member in duty}


def _starts(clock: int, on: list[Member]) -> dict[str, int]:
    """Where each member on duty stands: not before the clock, not owed more than two turns against the mean."""
    start = [clock if member.next_turn is None else max(member.next_turn, clock) for member in on]
    mean = _mean(on, start)
    return {one.id: max(place, mean - OWED_TURNS * stride(one)) for one, place in zip(on, start, strict=True)}


def _mean(on: Sequence[Member], start: Iterable[int]) -> int:
    """The mean of the places by weight, rounded down: what is not above the exact mean is not above it either."""
    weights = [member.weight for member in on]
    weighted: int = sum(map(mul, weights, start))
    return weighted // sum(weights)


def _ready(on: list[Member], able: list[Member], start: dict[str, int]) -> list[Member]:
    """Those of the able whose time has come: not ahead of the weighted mean of all on duty; else the first of them."""
    mean = _mean(on, start.values())
    ready = [member for member in able if start[member.id] <= mean]
    if ready:
        return ready
    least = min(start[member.id] for member in able)
    return [member for member in able if start[member.id] == least]


def _order(member: Member, start: int) -> tuple[int, int, bool, int, int, str]:
    """Earliest deadline, earliest start, longest since the own last turn (newcomers last), then the fixed order."""
    newcomer = member.last_turn is None
    return start + stride(member), start, newcomer, member.last_turn or 0, member.sort_order, member.id


def _taken(group: Group, picked: Member, next_turn: int, clock: int) -> Turn:
    number = group.turn + 1
    member = replace(picked, next_turn=next_turn, last_turn=number, leads_received=picked.leads_received + 1)
    members = tuple([member if one is picked else one for one in group.members])
    return Turn(number, member, replace(group, turn=number, clock=clock, members=members), group)
