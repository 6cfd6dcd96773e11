"""Overtaking: a member goes to a newer lead only if no older lead that waits for members could take that member."""

from __future__ import annotations

from lead_router.core.eligible import standings
from lead_router.core.fallback import chain
from lead_router.core.model import Ask, Group, Lead, Member, Mode, ToGroup, ToMatched, ToOwner
from lead_router.core.reopening import Wanted, want_of
from lead_router.core.rules import matching
from lead_router.core.table import Case, Table, age, former_of


def older_for(table: Table, case: Case, group: Group, member: Member) -> Ask | None:
    """The ask of the longest-waiting older lead that could take this member of the group, or None.

    Whether the member is on duty is not asked again, as the newer lead was about to get them.
    """
    for ask in table.waiting:
        if age(ask) >= age(case.ask):
            break
        lead = table.snapshot.leads.get(ask.lead_id)
        if lead is None or lead.id == case.lead.id or not isinstance(want_of(table, ask, lead), Wanted):
            continue
        if _comes_to(table, lead, group) and _could_take(table, lead, group, member):
            return ask
    return None


def joins(table: Table, ask: Ask) -> None:
    """The ask's lead waits for members, for the decisions that follow."""
    table.waiting.append(ask)
    table.waiting.sort(key=age)


def _comes_to(table: Table, lead: Lead, group: Group) -> bool:
    for rule in matching(table.book, lead, table.snapshot.taken_at):
        match rule.target:
            case ToMatched():
                continue
            case ToOwner():
                return False
            case ToGroup(group_id=group_id):
                chosen = table.groups.get(group_id)
                if chosen is None or chosen.mode is not Mode.LIVE:
                    return False  # it gets nobody, not even of a fallback group, before a person turns the mode
                return group.id in {one.id for one in chain(chosen, table.groups)}
    return False


def _could_take(table: Table, lead: Lead, group: Group, member: Member) -> bool:
    found = standings(group, lead, former_of(table, lead), table.moment, table.book)
    return any(one.member.id == member.id and one.refusal is None for one in found)
