"""Overtaking: a member goes to a newer lead only if no older lead that waits for members could take that member."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from operator import attrgetter

from lead_router.core.eligible import refusal
from lead_router.core.fallback import chain
from lead_router.core.model import Ask, Mode, ToGroup, ToMatched, ToOwner, Turn
from lead_router.core.reopening import Wanted, want_of
from lead_router.core.rules import matching
from lead_router.core.table import Case, Table, Waiter, age, former_of, standings_of


def line_up(table: Table, asks: Sequence[Ask]) -> None:
    """The snapshot's waiting leads wait for members, but for those that are asked for now."""
    asked = {ask.lead_id for ask in asks}
    for ask in table.snapshot.waiting:
        if ask.lead_id not in asked:
            joins(table, ask)


def joins(table: Table, ask: Ask) -> None:
    """The ask's lead waits for members, for the decisions that follow; those before it were about older leads."""
    lead = table.snapshot.leads.get(ask.lead_id)
    if lead is not None:
        insort(table.waiting, Waiter(age(ask), ask, lead), key=attrgetter("age"))


def older_for(table: Table, case: Case, turn: Turn) -> Ask | None:
    """The ask of the longest-waiting older lead that could take the turn's member, or None.

    Whether the member is on duty is not asked again, as the newer lead was about to get them.
    """
    older = bisect_left(table.waiting, age(case.ask), key=attrgetter("age"))
    place = (turn.before.id, turn.member.id)
    first = table.passed.get(place, 0)
    while first < older and not _takes(table, turn, table.waiting[first]):
        first += 1
    table.passed[place] = first
    for one in table.waiting[first:older]:
        if one.lead.id != case.lead.id and _takes(table, turn, one) and _may_have(table, turn, one):
            return one.ask
    return None


def _takes(table: Table, turn: Turn, one: Waiter) -> bool:
    """Whether the turn's group may give the lead its member, whoever had the lead; the same in the whole round."""
    if one.groups is None:
        one.groups = _groups(table, one)
    return turn.before.id in one.groups and refusal(turn.member, one.lead, table.moment, table.book) is None


def _groups(table: Table, one: Waiter) -> frozenset[str]:
    if not isinstance(want_of(table, one.ask, one.lead), Wanted):
        return frozenset()
    for rule in matching(table.book, one.lead, table.snapshot.taken_at):
        match rule.target:
            case ToMatched():
                continue
            case ToOwner():
                break
            case ToGroup(group_id=group_id):
                chosen = table.groups.get(group_id)
                if chosen is None or chosen.mode is not Mode.LIVE:
                    break  # it gets nobody, not even of a fallback group, before a person turns the mode
                return frozenset(each.id for each in chain(chosen, table.groups))
    return frozenset()


def _may_have(table: Table, turn: Turn, one: Waiter) -> bool:
    """Whether the member is not one who had the lead before."""
    former = former_of(table, one.lead)
    if not former.owners:
        return True
    found = standings_of(table, turn.before, one.lead, former)
    return any(each.member.id == turn.member.id and each.refusal is None for each in found)
