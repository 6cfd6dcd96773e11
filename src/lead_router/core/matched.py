"""Matched: the owner of a record that matches the lead, if that owner may have it now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from lead_router.core import wording
from lead_router.core.addresses import address, written
from lead_router.core.domains import PUBLIC_DOMAINS
from lead_router.core.duty import Off, absence_of, hours_closed
from lead_router.core.eligible import Former
from lead_router.core.ids import is_user
from lead_router.core.model import Group, Lead, Match, MatchBy, Member, Switch, ToMatched
from lead_router.core.table import Case, Table


@dataclass(frozen=True, slots=True)
class Found:
    """The owner of this record has the lead; `passed` tells whose records came before, and why not they."""

    match: Match
    passed: str = ""


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
        case Found(match=match, passed=passed):
            told = f"matched owners are only observed; live, it goes to {wording.owner_of(match)}"
            return Missed(told + (f"; passed over: {passed}" if passed else ""))
        case Awaited(reason=reason):
            return Missed(f"matched owners are only observed; live, it waits for that owner: {reason}")


def _matched_owner(table: Table, case: Case, target: ToMatched) -> MatchedOwner:
    """What the rule's target comes to for this lead.

    Records are asked in the target's order of kinds, and in the snapshot's within a kind. A queue, an intake user, a
    user who cannot own leads, and one who had this lead before own nothing that counts.
    """
    found = [match for kind in target.on for match in _matches(table, case.lead) if match.on is kind]
    passed: list[str] = []
    offs: list[tuple[Match, Off]] = []
    for match in (match for match in found if match.by is target.by):
        why = _bar(table, case.former, match)
        if why is None:
            off = away_of(table, match.owner_id)
            if off is None:
                return Found(match, wording.listed(passed))
            offs.append((match, off))
            why = off.text
        passed.append(wording.of_record(match, why))
    if not offs or target.falls_through:
        return Missed(wording.listed(passed) or _nothing(table, case.lead, target, found))
    ends = min((off.until for _, off in offs if off.until is not None), default=None)
    return Awaited(wording.listed([wording.of_record(match, off.text) for match, off in offs]), ends)


def reason_against(table: Table, former: Former, match: Match) -> str | None:
    """Why the record's owner cannot have a lead now that these users had before; None where they could."""
    why = _bar(table, former, match)
    off = away_of(table, match.owner_id) if why is None else None
    return why if off is None else off.text


def _bar(table: Table, former: Former, match: Match) -> str | None:
    """Why the record's owner cannot have the lead, whenever it comes; None where they could."""
    owner = match.owner_id
    bars = (
        (not is_user(owner), "a queue, no person"),
        (owner in table.siblings.intake_owners, "an intake user"),
        (owner in table.snapshot.unfit, "user refused as an owner by Salesforce"),
        (not match.user_active or owner in table.siblings.inactive, "user inactive"),
        (match.frozen, "user frozen"),
        (not match.reads_leads, "user cannot read leads"),
        (owner in former.owners, "had this lead before"),
    )
    return next((told for barred, told in bars if barred), None)


def _nothing(table: Table, lead: Lead, target: ToMatched, found: Sequence[Match]) -> str:
    """Why no record matches as the rule asks, as far as that is known; the address itself is not told."""
    if lead.id in table.snapshot.unasked:
        return "no matching records were looked for, as the lead has no Id"
    parts = address(lead)
    if parts is None:
        return "its e-mail address cannot be looked for" if written(lead) else "the lead has no e-mail address"
    if target.by is MatchBy.DOMAIN and parts[1] in PUBLIC_DOMAINS:
        told = "its e-mail domain is that of a public mail service, so that only whole addresses match"
    else:
        told = f"no {' or '.join(target.on)} has the same {wording.matched_by(target.by)}"
    others = [wording.of_record(match, f"matches by {wording.matched_by(match.by)} alone") for match in found]
    return "; ".join([told, wording.listed(others)] if others else [told])


def _matches(table: Table, lead: Lead) -> tuple[Match, ...]:
    return table.snapshot.matches.get(lead.id, ())


def away_of(table: Table, user_id: str) -> Off | None:
    """By absences, and by the hours of the user's memberships: off duty where all of them are closed.

    Caps and weights are the rotation's, and keep no customer from the rep who knows them.
    """
    places = [(one, group) for group in table.groups.values() for one in group.members if one.user_id == user_id]
    zone = places[0][0].zone if places else "UTC"
    away = absence_of(user_id, table.moment, zone)
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
