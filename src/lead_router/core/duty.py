"""On duty: who may take leads at an instant, whatever the lead, and until when who may not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import TypeAlias

from lead_router.core.hours import closed_for, next_open
from lead_router.core.model import Absence, Configuration, Group, Hours, Member, Turn
from lead_router.core.zones import is_zone, local_date, next_midnight, said

_Judged: TypeAlias = "dict[tuple[str, str], tuple[Member, str | None, int, Off | None]]"
_STEPS_MAX = 64  # reasons that follow one another before someone is on duty; more is "no clock tells"


@dataclass(frozen=True, slots=True)
class Moment:
    """An instant, and what duty is judged by at it. `unfit` are users that Salesforce refused as owners.

    `open_leads` may go on while leads are given out; `judged` remembers what was found of members that stay the same.
    """

    at: datetime
    hours: Mapping[str, Hours] = field(default_factory=dict)
    absences: Mapping[str, tuple[Absence, ...]] = field(default_factory=dict)
    open_leads: Mapping[str, int] = field(default_factory=dict)
    unfit: frozenset[str] = frozenset()
    judged: _Judged = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Off:
    """Why a member may take no leads now; times in `text` are those of the member's clock.

    The reason ends at `until`, None where no clock tells; `lasting` says that only an admin ends it.
    """

    text: str
    until: datetime | None = None
    lasting: bool = False


def moment_of(
    configuration: Configuration,
    at: datetime,
    open_leads: Mapping[str, int] | None = None,
    unfit: frozenset[str] = frozenset(),
) -> Moment:
    """The instant with the configuration's hours and absences; without `open_leads` nobody has any."""
    return Moment(at, configuration.hours, configuration.absences, {} if open_leads is None else open_leads, unfit)


def off_duty(member: Member, group: Group, moment: Moment | None = None) -> Off | None:
    """Why the member may take no leads of the group at that moment, or None if they may.

    Without a moment only the rows are judged: whether an admin has switched the member on.
    """
    if moment is None:
        return _by_rows(member)
    place = (group.id, member.id)
    held = 0 if member.open_cap is None else moment.open_leads.get(member.user_id, 0)
    known = moment.judged.get(place)
    if known is not None and known[0] is member and known[2] == held and known[1] == group.hours_id:
        return known[3]
    off = _by_moment(member, group, moment)
    moment.judged[place] = (member, group.hours_id, held, off)
    return off


def on_duty(group: Group, moment: Moment | None = None) -> frozenset[str]:
    """Ids of the members that are on duty at that moment."""
    return frozenset(member.id for member in group.members if off_duty(member, group, moment) is None)


def available_at(member: Member, group: Group, moment: Moment) -> datetime | None:
    """The first instant, from the moment on, at which the member is on duty if nobody changes anything.

    None where no clock tells: an admin, or the number of open leads, must change first.
    """
    for _ in range(_STEPS_MAX):
        off = off_duty(member, group, moment)
        if off is None:
            return moment.at
        if off.until is None:
            return None
        moment = Moment(off.until, moment.hours, moment.absences, moment.open_leads, moment.unfit)
    return None


def counted(turn: Turn, at: datetime) -> Turn:
    """The turn with its member's count of the day moved on; the day is the member's own, and begins at its midnight."""
    if not is_zone(turn.member.zone):
        return turn
    today = _today(turn.member, at)
    member = replace(turn.member, day=today, day_count=_count(turn.member, today) + 1)
    members = tuple([member if one.id == member.id else one for one in turn.group.members])
    return Turn(turn.number, member, replace(turn.group, members=members), turn.before)


def hours_closed(hours_id: str, moment: Moment, zone: str) -> Off | None:
    """Why hours keep someone whose clock shows `zone` from taking leads, or None where they are open."""
    hours = moment.hours.get(hours_id)
    if hours is None:
        return Off("business hours are not known, or not active")
    return _closed(hours, moment.at, zone)


def absence_of(user_id: str, moment: Moment, zone: str) -> Off | None:
    """Why absences keep the user from taking leads; ones that touch or overlap count as one."""
    absences = moment.absences.get(user_id)
    if not absences:
        return None
    end = moment.at
    while later := [one.end for one in absences if one.start <= end < one.end]:
        end = max(later)
    return None if end == moment.at else Off(f"absent until {said(zone, end, moment.at)}", end)


@lru_cache(maxsize=4096)  # members share hours, and leads of a batch the instant
def _closed(hours: Hours, at: datetime, zone: str) -> Off | None:
    opens = next_open(hours, at)
    if opens == at:
        return None
    if opens is None:
        return Off(f"outside hours '{hours.name}', which never open", lasting=True)
    names = " and ".join(closed_for(hours, at, opens))
    return Off(f"outside hours until {said(zone, opens, at)}{f' (holiday: {names})' if names else ''}", opens)


def _by_moment(member: Member, group: Group, moment: Moment) -> Off | None:
    off = _by_rows(member)
    if off is not None:
        return off
    if member.user_id in moment.unfit:
        return Off("user refused as an owner by Salesforce", lasting=True)
    return _absent(member, moment) or _outside(member, group, moment) or _capped(member, moment)


def _by_rows(member: Member) -> Off | None:
    if not member.user_active:
        return Off("user inactive", lasting=True)
    if member.frozen:
        return Off("user frozen", lasting=True)
    if not member.active:
        return Off("member inactive", lasting=True)
    if member.weight <= 0:
        return Off("paused: weight 0", lasting=True)
    return None


def _absent(member: Member, moment: Moment) -> Off | None:
    return absence_of(member.user_id, moment, member.zone)


def _outside(member: Member, group: Group, moment: Moment) -> Off | None:
    hours_id = member.hours_id or group.hours_id
    return None if hours_id is None else hours_closed(hours_id, moment, member.zone)


def _capped(member: Member, moment: Moment) -> Off | None:
    if member.daily_cap is not None:
        if not is_zone(member.zone):
            return Off(f"has a cap a day, but time zone '{member.zone}' is not known", lasting=True)
        count = _count(member, _today(member, moment.at))
        if count >= member.daily_cap:
            text = f"cap {count}/{member.daily_cap} today"
            return Off(text, next_midnight(member.zone, moment.at)) if member.daily_cap > 0 else Off(text, lasting=True)
    if member.open_cap is not None and (held := moment.open_leads.get(member.user_id, 0)) >= member.open_cap:
        return Off(f"open leads {held}/{member.open_cap}", lasting=member.open_cap <= 0)
    return None


def _today(member: Member, at: datetime) -> str:
    """The member's date; never before the day last counted, so that a move to the west frees no cap."""
    today = local_date(member.zone, at).isoformat()
    return today if member.day is None else max(today, member.day)


def _count(member: Member, today: str) -> int:
    return member.day_count if member.day == today else 0
