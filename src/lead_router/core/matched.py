"""Matched: the owner of a record that matches the lead, if that owner may have it now."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from lead_router.core import wording
from lead_router.core.duty import Off, absence_of, hours_closed
from lead_router.core.ids import is_user
from lead_router.core.model import Group, Lead, Match, Member, Switch, ToMatched
from lead_router.core.table import Case, Table


@dataclass(frozen=True, slots=True)
class Found:
    """The owner of this record has the lead."""

    match: Match


@dataclass(frozen=True, slots=True)
class Missed:
    """Nobody has it by this rule: the next rules are asked."""

    reason: str


@dataclass(frozen=True, slots=True)
class Awaited:
    """The lead waits for that owner."""

    reason: str
    until: datetime | None


MatchedOwner: TypeAlias = Found | Missed | Awaited


def matched_owner(table: Table, case: Case, target: ToMatched) -> MatchedOwner:
    """What the rule's target comes to for this lead, as far as matched owners are switched on."""
    match table.configuration.rollout.matched_owner:
        case Switch.OFF:
            return Missed("matched owners are switched off")
        case Switch.OBSERVE:
            return _observed(_matched_owner(table, case, target))
        case Switch.LIVE:
            return _matched_owner(table, case, target)


def _observed(found: MatchedOwner) -> Missed:
    match found:
        case Missed():
            return found
        case Found(match=match):
            return Missed(f"matched owners are only observed; live, it goes to {wording.owner_of(match)}")
        case Awaited(reason=reason):
            return Missed(f"matched owners are only observed; live, it waits for that owner: {reason}")


def _matched_owner(table: Table, case: Case, target: ToMatched) -> MatchedOwner:
    """What the rule's target comes to for this lead.

    Records are asked in the target's order of kinds, and in the snapshot's within a kind. A queue, an intake user, a
    user who cannot own leads, and one who had this lead before own nothing that counts.
    """
    found = [match for kind in target.on for match in _matches(table, case.lead) if match.on is kind]
    own = [match for match in found if match.by is target.by and _may_own(table, case, match)]
    if not own:
        return Missed("no owner of a matching record can have it")
    offs: list[tuple[Match, Off]] = []
    for match in own:
        off = _off(table, match)
        if off is None:
            return Found(match)
        offs.append((match, off))
    told = "; ".join(f"{match.name}: {off.text}" for match, off in offs)
    if target.falls_through:
        return Missed(told)
    return Awaited(told, min((off.until for _, off in offs if off.until is not None), default=None))


def _matches(table: Table, lead: Lead) -> tuple[Match, ...]:
    return table.snapshot.matches.get(lead.id, ())


def _may_own(table: Table, case: Case, match: Match) -> bool:
    return (
        is_user(match.owner_id)
        and match.user_active
        and not match.frozen
        and match.reads_leads
        and match.owner_id not in case.former.owners
        and match.owner_id not in table.siblings.intake_owners
        and match.owner_id not in table.siblings.inactive
    )


def _off(table: Table, match: Match) -> Off | None:
    """By absences, and by the hours of the owner's memberships: off duty where all of them are closed.

    Caps and weights are the rotation's, and keep no customer from the rep who knows them.
    """
    places = [(one, group) for group in table.groups.values() for one in group.members if one.user_id == match.owner_id]
    zone = places[0][0].zone if places else "UTC"
    away = absence_of(match.owner_id, table.moment, zone)
    if away is not None:
        return away
    closed = [_closed(table, member, group) for member, group in places]
    offs = [off for off in closed if off is not None]
    return None if len(offs) < len(closed) or not offs else min(offs, key=_ends)


def _closed(table: Table, member: Member, group: Group) -> Off | None:
    hours_id = member.hours_id or group.hours_id
    return None if hours_id is None else hours_closed(hours_id, table.moment, member.zone)


def _ends(off: Off) -> tuple[bool, float]:
    return off.until is None, 0.0 if off.until is None else off.until.timestamp()
