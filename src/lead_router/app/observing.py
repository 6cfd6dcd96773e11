"""`lead-router observe report`: what observing groups would have done, beside what really happened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from statistics import median

from lead_router.app.batch import PAGE
from lead_router.app.looking import open_jobs
from lead_router.app.naming import names_of
from lead_router.app.wiring import Wired, wire
from lead_router.core.model import Configuration, LedgerRow, Outcome
from lead_router.ports import JobStore, Observed, Org
from lead_router.settings import Settings

REPORT_MAX = 10_000
"""Observations of one report, the newest."""


@dataclass(frozen=True, slots=True)
class Rep:
    """One owner's leads: how many the group would have given, and how many of the same leads came to them."""

    owner_id: str
    owner: str
    would: int
    got: int


@dataclass(frozen=True, slots=True)
class GroupReport:
    """One group's observations. `agreed` and `differed` are of leads that somebody owns and the group would have given.

    `held` are those that nobody of the group could have had, `unowned` wait for an owner still, `gone` cannot be read
    any more. `routed` were given out by this program after they were observed, which tells nothing of what people do:
    they are in no other number but `leads`, `held` and the first time. Times are medians, in seconds from the event:
    until the group would have given the lead, and until it was seen to be owned, up to 15 minutes late.
    """

    group: str
    leads: int
    agreed: int
    differed: int
    held: int
    unowned: int
    gone: int
    routed: int
    agreement: float | None
    decided_s: float | None
    owned_s: float | None
    reps: tuple[Rep, ...]


@dataclass(frozen=True, slots=True)
class _Real:
    """Who has a lead, None where nobody has, and its ledger rows."""

    owner_id: str | None
    rows: tuple[LedgerRow, ...]


def observe_report(settings: Settings) -> tuple[GroupReport, ...]:
    """One report per group, by key; reads the present owners and the ledger of the leads, and writes nothing."""
    with closing(open_jobs(settings)) as store:
        return report_in(store, wire(settings))


def report_in(store: JobStore, wired: Wired) -> tuple[GroupReport, ...]:
    """The same for a store and an org within reach."""
    configuration = wired.org.configuration()

    def key_of(one: Observed) -> str:
        return configuration.group_keys.get(one.what.group_id, one.what.group_key)

    observations = sorted(store.observations(limit=REPORT_MAX), key=key_of)
    real = _read(wired.org, configuration, sorted({one.what.lead_id for one in observations}))
    owners = (*(one.what.owner_id for one in observations), *(has.owner_id for has in real.values()))
    names = names_of(wired.rest, configuration, owners)
    by_group = groupby(observations, key=key_of)
    return tuple(_report(key, list(several), real, names) for key, several in by_group)


def _read(org: Org, configuration: Configuration, ids: Sequence[str]) -> dict[str, _Real]:
    real: dict[str, _Real] = {}
    for start in range(0, len(ids), PAGE):
        snapshot = org.snapshot(configuration, ids[start : start + PAGE], ())
        for lead in snapshot.leads.values():
            owner = None if lead.owner_id in configuration.intake_owners else lead.owner_id
            real[lead.id] = _Real(owner, tuple(row for row in snapshot.ledger if row.lead_id == lead.id))
    return real


def _after(one: Observed, has: _Real) -> list[LedgerRow]:
    """The rounds that were made after the observation, by its own job or another, the first one first."""
    made = [
        row
        for row in has.rows
        if row.idempotency_key == one.what.idempotency_key or row.created_at is None or row.created_at > one.observed_at
    ]
    return sorted(made, key=lambda row: row.round)


def _routed(one: Observed, has: _Real) -> bool:
    """Whether this program gave the lead out after all; a row of a lead taken by hand only counts a turn."""
    return any(row.outcome != Outcome.MANUAL for row in _after(one, has))


def _got(one: Observed, has: _Real) -> tuple[str | None, datetime | None]:
    """Who had the lead first after the observation, and when that was seen."""
    taken = next(iter(_after(one, has)), None)
    return (has.owner_id, one.owned_at) if taken is None else (taken.assigned_to, taken.created_at)


def _report(
    key: str, observations: Sequence[Observed], real: Mapping[str, _Real], names: Mapping[str, str]
) -> GroupReport:
    pairs = [(one, real.get(one.what.lead_id)) for one in observations]
    read = [(one, has) for one, has in pairs if has is not None]
    compared = [(one, *_got(one, has)) for one, has in read if not _routed(one, has)]
    both = [(one.what.owner_id, got) for one, got, _ in compared if one.what.owner_id and got]
    agreed = sum(1 for would, got in both if would == got)
    owned = [(at, one.what.event_at) for one, got, at in compared if got]
    return GroupReport(
        group=key,
        leads=len(pairs),
        agreed=agreed,
        differed=len(both) - agreed,
        held=sum(1 for one in observations if one.what.owner_id is None),
        unowned=sum(1 for _, got, _ in compared if got is None),
        gone=len(pairs) - len(read),
        routed=len(read) - len(compared),
        agreement=agreed / len(both) if both else None,
        decided_s=_median((one.observed_at, one.what.event_at) for one in observations if one.what.owner_id),
        owned_s=_median((at, since) for at, since in owned if at is not None),
        reps=_reps(both, names),
    )


def _median(spans: Iterable[tuple[datetime, datetime]]) -> float | None:
    seconds = [(until - since).total_seconds() for until, since in spans]
    return round(median(seconds), 3) if seconds else None


def _reps(both: Sequence[tuple[str, str]], names: Mapping[str, str]) -> tuple[Rep, ...]:
    would, got = Counter(one for one, _ in both), Counter(one for _, one in both)
    rows = (Rep(owner, names.get(owner, owner), would[owner], got[owner]) for owner in would.keys() | got.keys())
    return tuple(sorted(rows, key=lambda row: (-row.would, -row.got, row.owner)))
