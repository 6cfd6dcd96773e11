"""Taken: whether a person took a lead by hand before it was routed, and what that does to the rotation.

A lead is taken where it was seen to be unassigned, by its event, a sweep or a held job, and has a person as owner now,
without ever having been routed. Whoever gave it to that person, the org does not tell.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from lead_router.core import wording
from lead_router.core.duty import counted, on_duty
from lead_router.core.ids import is_user
from lead_router.core.matched import Missed, matched_owner
from lead_router.core.model import Ask, Count, Group, Lead, Member, Mode, Rule, ToGroup, ToMatched, ToOwner, Turn
from lead_router.core.rotation import in_order, take_turn
from lead_router.core.rules import matching
from lead_router.core.siblings import Course, Lone
from lead_router.core.table import Case, Table, routed_before


def taken(table: Table, case: Case, way: Course) -> Count | None:
    """The turn that a lead taken by hand uses up; None where it was not taken, or counts for nobody.

    It counts where the rule that would have decided sends it to a live group that counts such leads, and its owner is
    an active member of that very group, on duty or not. A second lead of a submission uses no turn, taken or routed.
    """
    lead = case.lead
    if (
        lead.is_converted
        or lead.id in table.seen
        or routed_before(table, lead)
        or not _was_taken(table, case.ask, lead)
    ):
        return None
    found = _group(table, case)
    if found is None or not isinstance(way, Lone):
        return None
    rule, group = found
    member = next((one for one in in_order(group) if one.user_id == lead.owner_id and _plays(one)), None)
    if member is None:
        return None
    turn = counted(by_hand(group, on_duty(group, table.moment), member), table.moment.at)
    table.groups[group.id] = turn.group
    said = wording.joined(wording.by_hand(rule, turn), way.note)
    submission = case.submission if way.keys_free else None
    return Count(case.ask, lead, lead.owner_id, case.round, rule, turn, submission, said)


def by_hand(group: Group, duty: Collection[str], member: Member) -> Turn:
    """The group's next turn, used up by this member of weight above 0, as though only they could have had it.

    Who is off duty is judged among those on duty and leaves the clock as it is: what they take in a night passes nobody
    by, and the others come first once they are back.
    """
    turn = take_turn(group, {*duty, member.id}, {member.id})
    if turn is None:
        raise ValueError(f"member {member.id} of group '{group.key}' has no weight, and so no turns")
    return turn if member.id in duty else replace(turn, group=replace(turn.group, clock=group.clock))


def _was_taken(table: Table, ask: Ask, lead: Lead) -> bool:
    """In doubt not: where a status may make a lead unassigned, only its owner then tells who took it from whom."""
    if not is_user(lead.owner_id):
        return False
    if ask.owner_before is None:
        return ask.held and not table.book.intake_statuses
    return ask.owner_before != lead.owner_id and (ask.held or _was_unassigned(table, ask.owner_before, lead))


def _was_unassigned(table: Table, owner_id: str, lead: Lead) -> bool:
    return table.book.unassigned.matches(_owned_by(owner_id, lead).fields, table.moment.at)


def _group(table: Table, case: Case) -> tuple[Rule, Group] | None:
    """The rule that would have decided before the lead was taken, and its group, if that counts such leads."""
    before = case.lead if case.ask.owner_before is None else _owned_by(case.ask.owner_before, case.lead)
    for rule in matching(table.book, before, table.moment.at):
        match rule.target:
            case ToMatched():
                if not isinstance(matched_owner(table, case, rule.target), Missed):
                    return None
            case ToOwner():
                return None
            case ToGroup(group_id=group_id):
                group = table.groups.get(group_id)
                counts = group is not None and group.mode is Mode.LIVE and group.counts_manual
                return (rule, group) if group is not None and counts else None
    return None


def _owned_by(owner_id: str, lead: Lead) -> Lead:
    """The lead as it was under that owner, as far as is known."""
    kind = {"Type": "User" if is_user(owner_id) else "Queue"}
    return replace(lead, owner_id=owner_id, fields={**lead.fields, "OwnerId": owner_id, "Owner": kind})


def _plays(member: Member) -> bool:
    return member.active and member.weight > 0
