"""Eligible: which members of a group may have this lead, and why the others may not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from lead_router.core.duty import Moment, Off, off_duty
from lead_router.core.ids import is_user
from lead_router.core.model import Group, Lead, LedgerRow, Member
from lead_router.core.rotation import in_order
from lead_router.core.rules import FieldTypes, Rulebook
from lead_router.core.soql import Criteria, compile_where
from lead_router.errors import BadCriteria


@dataclass(frozen=True, slots=True)
class Former:
    """Who had a lead before: all of them, and the last one; by user id."""

    owners: frozenset[str] = frozenset()
    last: str | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """One member before one lead: off duty, refused for this lead, both, or neither, which is eligible."""

    member: Member
    off: Off | None
    refusal: str | None


def former_owners(lead: Lead, rows: Iterable[LedgerRow]) -> Former:
    """Who had the lead, by its ledger rows; whoever has it now is the last."""
    users = [row.assigned_to for row in sorted(rows, key=lambda row: row.round) if is_user(row.assigned_to)]
    if not users:
        return Former()
    if is_user(lead.owner_id):
        users.append(lead.owner_id)
    return Former(frozenset(users), users[-1])


def standings(group: Group, lead: Lead, former: Former, moment: Moment, book: Rulebook) -> tuple[Standing, ...]:
    """Every member of the group before this lead, as the group's rows come."""
    found = [
        Standing(member, off_duty(member, group, moment), refusal(member, lead, moment, book))
        for member in group.members
    ]
    barred = _barred(found, former) if former.owners else frozenset()
    if not barred:
        return tuple(found)
    return tuple(
        Standing(one.member, one.off, "had this lead before") if one.refusal is None and _has(one, barred) else one
        for one in found
    )


def in_turn(group: Group, found: Iterable[Standing]) -> tuple[Standing, ...]:
    """These standings of the group, in the order in which their turns would come."""
    standing = {one.member.id: one for one in found}
    return tuple(standing[member.id] for member in in_order(group, standing))


def duty_of(found: Iterable[Standing]) -> frozenset[str]:
    """Ids of the members on duty, whatever the lead."""
    return frozenset([one.member.id for one in found if one.off is None])


def eligible_of(found: Iterable[Standing]) -> frozenset[str]:
    """Ids of the members that may have the lead now."""
    return frozenset([one.member.id for one in found if one.off is None and one.refusal is None])


def refusal(member: Member, lead: Lead, moment: Moment, book: Rulebook) -> str | None:
    """Why the member may not have this lead, whenever it comes."""
    if not member.reads_leads:
        return "user cannot read leads"
    if member.user_id in book.intake_owners:
        return "is an intake user: leads would go round for ever"
    if not member.accepts.strip():
        return None
    accepts = accepted(member.accepts, book.types)
    if isinstance(accepts, BadCriteria):
        return f"criteria of accepted leads cannot be used: {accepts}"
    if any(path.lower() not in book.lead_fields for path in accepts.fields):
        return "criteria of accepted leads ask for fields that are not read yet"
    return None if accepts.matches(lead.seen, moment.at) else "does not accept this lead"


@lru_cache(maxsize=4096)
def accepted(clause: str, types: FieldTypes) -> Criteria | BadCriteria:
    """A member's criteria, or what is wrong with them: a fault of one member must not hold up the others' leads."""
    try:
        return compile_where(clause, dict(types) or None)
    except BadCriteria as fault:
        return fault


def _barred(found: Iterable[Standing], former: Former) -> frozenset[str]:
    """Who may not have the lead again: whoever had it, unless that leaves only those; then the last, unless alone.

    Members that are away or at their cap come back, so they do not leave anyone alone; only those whom an admin took
    out, or who take no such leads, do.
    """
    able = {one.member.user_id for one in found if one.refusal is None and not (one.off and one.off.lasting)}
    last = frozenset({former.last} if former.last is not None else ())
    return next((barred for barred in (former.owners, last) if able - barred), frozenset())


def _has(one: Standing, users: frozenset[str]) -> bool:
    return one.member.user_id in users
