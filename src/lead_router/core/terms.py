"""Terms: how long a rep has to touch a lead that a group gave, when that is over, and whether the lead was touched.

The clock runs in the group's business hours, for a lead that the group gave by a turn and that its owner has still. It
is about one round: who comes next has a term of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from lead_router.core import hours
from lead_router.core.counted import counted
from lead_router.core.eligible import accepted
from lead_router.core.keys import untouched_round
from lead_router.core.model import Configuration, Group, Lead, LedgerRow, Mode, Outcome, Snapshot, Switch
from lead_router.core.touch import CHANGED_BY
from lead_router.errors import BadCriteria


@dataclass(frozen=True, slots=True)
class Term:
    """The working time, in minutes, in which a lead is to be touched: from when, and when it is over.

    `remind_at` is when the owner is to be reminded, None for never.
    """

    minutes: int
    since: datetime
    remind_at: datetime | None
    due_at: datetime

    @property
    def first_at(self) -> datetime:
        """The first instant at which something may be to do."""
        return self.due_at if self.remind_at is None else self.remind_at


@dataclass(frozen=True, slots=True)
class Running:
    """The clock runs for the lead as it was read: its last round is `row`, and nobody has touched it.

    `opens_at` is when the group's hours open next, None where they are open: outside of them nothing is done.
    """

    group: Group
    term: Term
    row: LedgerRow
    opens_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Stopped:
    """No clock runs for the lead, and why."""

    reason: str


def term_of(configuration: Configuration, group: Group, since: datetime) -> Term | None:
    """The term of a lead that the group gave out at that instant.

    None where the group has no clock, or has hours that are not known or are open for too little.
    """
    if not group.accept_within or group.accept_within < 0:
        return None
    length = timedelta(minutes=group.accept_within)
    due = _after(configuration, group, since, length)
    share = configuration.first_touch.reminder
    remind = _after(configuration, group, since, length * share) if share else None
    return None if due is None else Term(group.accept_within, since, remind, due)


def _after(configuration: Configuration, group: Group, since: datetime, length: timedelta) -> datetime | None:
    if group.hours_id is None:
        return since + length
    known = configuration.hours.get(group.hours_id)
    return None if known is None else hours.open_for(known, since, length)


def watched(configuration: Configuration) -> dict[str, Group]:
    """The groups whose leads are under a clock, by key; none where it is switched off."""
    if configuration.rollout.first_touch is Switch.OFF:
        return {}
    return {group.key: group for group in configuration.roster if group.accept_within and group.mode is Mode.LIVE}


def ripe(configuration: Configuration, groups: Iterable[Group], leads: Iterable[Lead], at: datetime) -> list[Lead]:
    """Those of the leads of which, by what they show, a reminder or a deadline may be due."""
    by_key = {group.key: group for group in groups if group.accept_within}
    found: list[Lead] = []
    for lead in leads:
        group = by_key.get(lead.routed_by or "")
        if group is None or lead.routed_at is None or lead.is_converted:
            continue
        term = term_of(configuration, group, lead.routed_at)
        if term is not None and term.first_at <= at:
            found.append(lead)
    return found


def given_on(snapshot: Snapshot, lead: Lead, last: LedgerRow) -> bool:
    """Whether a person gave it to someone after its last routing: it may have been given back, and taken by whoever had
    it before.

    Events tell that; one that was held when it was taken shows nothing any more, though it was routed; and the trigger
    takes off the owner that routing expected, whoever is given it.
    """
    at = snapshot.by_hand.get(lead.id)
    return lead.unmarked or (at is not None and last.created_at is not None and at >= last.created_at)


def running(configuration: Configuration, snapshot: Snapshot, lead: Lead) -> Running | Stopped:
    """Whether the clock runs for the lead, as it was read with its ledger rows and its touches."""
    rows = [row for row in snapshot.ledger if row.lead_id == lead.id]
    row = max(rows, key=lambda one: one.round, default=None)
    if row is None or row.turn is None or row.outcome == Outcome.MANUAL or row.round != lead.round:
        return Stopped("converted" if lead.is_converted else "no turn of a group gave it out last")
    group = snapshot.groups.get(row.group_id or "")
    if lead.is_converted or row.assigned_to != lead.owner_id or given_on(snapshot, lead, row):
        return Stopped("converted" if lead.is_converted else "its owner was changed")
    if group is None or group.mode is not Mode.LIVE:
        return Stopped("the group that gave it out is not live")
    since = lead.routed_at or row.created_at
    term = None if since is None else term_of(configuration, group, since)
    touched = _touched(configuration, snapshot, lead)
    if term is None or touched is not None:
        return Stopped(touched or f"group '{group.key}' has no first-touch clock")
    known = configuration.hours.get(group.hours_id or "")
    opens = None if known is None else hours.next_open(known, snapshot.taken_at)
    return Running(group, term, row, None if opens == snapshot.taken_at else opens)


def _touched(configuration: Configuration, snapshot: Snapshot, lead: Lead) -> str | None:
    """How the lead was touched, or why that cannot be told; in doubt it is left to its owner."""
    untouched = accepted(configuration.first_touch.untouched, frozenset(configuration.field_types.items()))
    if isinstance(untouched, BadCriteria):
        return f"which leads are untouched cannot be told: {untouched}"
    shown = shown_touch(configuration, lead, snapshot.taken_at)
    if shown is not None:
        return shown
    if snapshot.blind:
        return "whether it was touched cannot be told: this user may not read activities"
    return "touched: there is an activity" if lead.id in snapshot.touches else None


def shown_touch(configuration: Configuration, lead: Lead, at: datetime) -> str | None:
    """How the lead itself shows that it was touched; None where it does not, or that cannot be told."""
    untouched = accepted(configuration.first_touch.untouched, frozenset(configuration.field_types.items()))
    if isinstance(untouched, BadCriteria):
        return None
    if not untouched.matches(lead.fields, at):
        return f"touched: its status is '{lead.status}'" if "Status" in untouched.fields else "touched: it was changed"
    # Each routing is the router's own change, so this one came later.
    return "touched: its owner changed it" if lead.fields.get(CHANGED_BY) == lead.owner_id else None


def told(
    configuration: Configuration, snapshot: Snapshot, lead: Lead, began: Mapping[str, datetime] | None = None
) -> str | None:
    """What the clock has to say of the lead, as a person reads it; None where no clock asks about it.

    Activities of before the reminder are not looked for. `began` is by group id since when it is looked after.
    """
    group = watched(configuration).get(lead.routed_by or "")
    if group is None:
        return None
    found = running(configuration, snapshot, lead)
    if isinstance(found, Stopped):
        return f"no first-touch clock runs: {found.reason}"
    term, since = found.term, (began or {}).get(group.id)
    if since is not None and term.since < since:
        return f"no first-touch clock runs: it was given out before that of group '{group.key}' began, {_shown(since)}"
    reminder = f", a reminder at {_shown(term.remind_at)}" if term.remind_at is not None else ""
    due = "was due" if term.due_at <= snapshot.taken_at else "due"
    live = configuration.rollout.first_touch is Switch.LIVE
    only = "" if live else "; the clock only observes"
    return (
        f"first touch {due} at {_shown(term.due_at)}, {counted(term.minutes, 'minute')} from {_shown(term.since)}"
        f"{reminder}{only}"
    )


def _shown(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%SZ}"


def handed_on(rows: Sequence[LedgerRow]) -> int:
    """How often in a row, up to the lead's last round, the clock gave it on."""
    number = 0
    for row in sorted(rows, key=lambda one: one.round, reverse=True):
        if untouched_round(row.idempotency_key) is None:
            break
        number += 1
    return number
