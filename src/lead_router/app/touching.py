"""`lead-router touches`: how long leads wait for an owner and for a first touch, and what the first-touch clock did."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta

from lead_router.app.beside import at_hand
from lead_router.app.wiring import Wired, wire
from lead_router.core.ids import to18
from lead_router.core.keys import untouched_round
from lead_router.core.model import Outcome
from lead_router.ports import JobStore, Touched, TouchMark
from lead_router.salesforce import activities, queries
from lead_router.salesforce.names import GroupFields, LedgerFields, Objects, Relations, Standard
from lead_router.salesforce.reading import read
from lead_router.salesforce.records import Row, maybe_whole, moment, shaped
from lead_router.settings import Settings

LEADS_MAX = 200  # leads whose activities one call asks for
NO_GROUP = "(no group)"
_FIELDS = (
    LedgerFields.LEAD,
    f"{Relations.LEDGER_LEAD}.{Standard.CREATED_AT}",
    f"{Relations.LEDGER_GROUP}.{GroupFields.KEY}",
    LedgerFields.ROUND,
    LedgerFields.OUTCOME,
    LedgerFields.IDEMPOTENCY_KEY,
    Standard.CREATED_AT,
)


@dataclass(frozen=True, slots=True)
class Times:
    """How many leads it is known of, and the seconds from creation within which half and 95 in 100 of them had it."""

    leads: int
    p50_s: float | None
    p95_s: float | None


@dataclass(frozen=True, slots=True)
class GroupTouches:
    """One group's leads of the period, by the group that gave each out first; `group` None is all groups together.

    `touched` is of leads with an activity by anyone but the router; a lead whose status alone was set has none. What
    the clock did is counted by when it did it; reminders are None where the job database cannot be looked at.
    """

    group: str | None
    leads: int
    owned: Times
    touched: Times
    rerouted: int
    to_manager: int
    reminded: int | None
    would_remind: int | None
    would_reroute: int | None


@dataclass(frozen=True, slots=True)
class TouchReport:
    """All of it, then each group by key. `fault` says why reminders are not known, `blind` that touches are not."""

    since: datetime
    groups: tuple[GroupTouches, ...]
    fault: str | None
    blind: bool


@dataclass(frozen=True, slots=True)
class _Row:
    lead_id: str | None
    lead_at: datetime | None
    group: str
    round: int
    outcome: str
    by_clock: bool
    at: datetime


def touch_report(settings: Settings, *, days: int, at: datetime) -> TouchReport:
    """The report of the last `days` days; reads the ledger, activities and the job database, and writes nothing."""
    wired = wire(settings)
    found = at_hand(settings)
    if isinstance(found, str):
        return touches_in(wired, None, since=at - timedelta(days=days), fault=found)
    with closing(found) as store:
        return touches_in(wired, store, since=at - timedelta(days=days))


def touches_in(wired: Wired, store: JobStore | None, *, since: datetime, fault: str | None = None) -> TouchReport:
    """The same for an org and a job store within reach."""
    configuration = wired.org.configuration()
    tail = f"WHERE {Standard.CREATED_AT} >= {queries.instant(since)} ORDER BY {Standard.CREATED_AT}, {Standard.ID}"
    rows = [_row(one) for one in wired.rest.query(queries.select(_FIELDS, Objects.LEDGER, tail))]
    first: dict[str, _Row] = {}
    for row in sorted(rows, key=lambda one: one.round):
        if row.lead_id is not None and row.lead_at is not None and row.lead_at >= since:
            first.setdefault(row.lead_id, row)
    touched, blind = _touched(wired, sorted(first), since, configuration.integration_user_id)
    marks = None if store is None else store.touch_marks(since=since)
    keys = configuration.group_keys
    named = {*(row.group for row in rows), *(keys.get(mark.group_id, mark.group_id) for mark in marks or ())}
    groups = [_group(name, rows, first, touched, marks, keys) for name in (None, *sorted(named))]
    return TouchReport(since, tuple(groups), fault, blind)


def _touched(wired: Wired, ids: Sequence[str], since: datetime, user: str) -> tuple[dict[str, datetime], bool]:
    """By lead, when its first activity was, and whether activities may not be read."""
    found: dict[str, datetime] = {}
    blind = False
    for few in queries.chunks(ids, LEADS_MAX):
        parts = [
            queries.part(activities.TASKS, activities.tasks(few, since, user)),
            queries.part(activities.EVENTS, activities.events(few, since, user)),
        ]
        rows = read(wired.rest, parts, {activities.TASKS, activities.EVENTS})
        blind = blind or len(rows) < len(parts)
        for row in (row for several in rows.values() for row in several):
            lead_id, at = activities.touch(row)
            found[lead_id] = min(at, found.get(lead_id, at))
    return found, blind


def _group(
    name: str | None,
    rows: Iterable[_Row],
    first: Mapping[str, _Row],
    touched: Mapping[str, datetime],
    marks: Sequence[TouchMark] | None,
    keys: Mapping[str, str],
) -> GroupTouches:
    own = {lead_id: row for lead_id, row in first.items() if name in {None, row.group}}
    clock = Counter(row.outcome for row in rows if row.by_clock and name in {None, row.group})
    done = (
        None
        if marks is None
        else Counter(one.mark for one in marks if name in {None, keys.get(one.group_id, one.group_id)})
    )
    return GroupTouches(
        group=name,
        leads=len(own),
        owned=_times((row.at, row.lead_at) for row in own.values()),
        touched=_times((touched[one], row.lead_at) for one, row in own.items() if one in touched),
        rerouted=clock[Outcome.ASSIGNED],
        to_manager=clock[Outcome.FALLBACK],
        reminded=None if done is None else done[Touched.REMINDED],
        would_remind=None if done is None else done[Touched.WOULD_REMIND],
        would_reroute=None if done is None else done[Touched.WOULD_REROUTE],
    )


def _times(spans: Iterable[tuple[datetime, datetime | None]]) -> Times:
    seconds = sorted(max((at - since).total_seconds(), 0.0) for at, since in spans if since is not None)
    return Times(len(seconds), percentile(seconds, 0.5), percentile(seconds, 0.95))


def percentile(ordered: Sequence[float], share: float) -> float | None:
    """The least of the values that this share of them does not exceed; None of none."""
    return ordered[max(math.ceil(share * len(ordered)), 1) - 1] if ordered else None


@shaped
def _row(row: Row) -> _Row:
    lead_id, lead = row[LedgerFields.LEAD], row[Relations.LEDGER_LEAD] or {}
    created = lead.get(Standard.CREATED_AT)
    return _Row(
        lead_id=None if lead_id is None else to18(lead_id),
        lead_at=None if created is None else moment(created),
        group=(row[Relations.LEDGER_GROUP] or {}).get(GroupFields.KEY) or NO_GROUP,
        round=maybe_whole(row[LedgerFields.ROUND]) or 0,
        outcome=row[LedgerFields.OUTCOME] or "",
        by_clock=untouched_round(row[LedgerFields.IDEMPOTENCY_KEY]) is not None,
        at=moment(row[Standard.CREATED_AT]),
    )
