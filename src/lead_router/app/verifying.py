"""`lead-router verify`: the ledger held against all that stands for it, and what it proves put right."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeAlias

from lead_router.app.looking import open_jobs
from lead_router.app.wiring import now, wire
from lead_router.core.drift import Change, Drifted, Field
from lead_router.core.model import Group
from lead_router.errors import Misconfigured, OutcomeUnknown, Transient
from lead_router.loops.verification import Report, verify
from lead_router.ports import JobStore
from lead_router.ports.books import Books
from lead_router.salesforce.books import SalesforceBooks
from lead_router.settings import Settings

_OF_LEADS = frozenset({Field.ROUND, Field.STAMP})
_NO_JOBS = "jobs were not looked at"
_IN_PART = "the repair may have been written in part: ask again, what is right by then is not written twice"


@dataclass(frozen=True, slots=True)
class Proposed:
    """One change of a repair: which record and field, from what to what, and why; `refused`: why it was not made."""

    group: str
    record: str
    field: Field
    old: int | str | None
    new: int | str | None
    reason: str
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class Verified:
    """What `verify` shows. After a repair, what is left of it, beside the changes that were made."""

    findings: tuple[Drifted, ...]
    notes: tuple[str, ...]
    groups: int
    rows: int
    leads: int
    jobs: int | None
    changes: tuple[Proposed, ...] = ()
    written: bool = False
    names: Mapping[str, str] = field(default_factory=dict)
    """Of members, by id, as far as they were read."""


Agree: TypeAlias = Callable[[Verified], bool]
"""Shows what was found and would be written, and answers whether to write that."""


def agreed(_seen: Verified) -> bool:
    """For whoever was told beforehand to write whatever is proved."""
    return True


def verified(
    settings: Settings,
    *,
    group: str | None = None,
    since: datetime | None = None,
    write: bool = False,
    agree: Agree = agreed,
) -> Verified:
    """Judge everything, or one group; with `write`, put right what the ledger proves, if it is agreed to; judge again.

    Raises Transient where Salesforce or the job database is away, Misconfigured where there is no such group.
    """
    books = SalesforceBooks(wire(settings).rest)
    since = since or settings.ledger_since
    try:
        store = open_jobs(settings)
    except Misconfigured as fault:
        note = f"{_NO_JOBS}: {fault}"
        return verified_in(books, None, group=group, since=since, write=write, note=note, agree=agree)
    with closing(store):
        return verified_in(books, store, group=group, since=since, write=write, agree=agree)


def verified_in(
    books: Books,
    store: JobStore | None,
    *,
    group: str | None = None,
    since: datetime | None = None,
    write: bool = False,
    note: str = "",
    agree: Agree = agreed,
) -> Verified:
    """The same for books and a store within reach; what is written is what was agreed to, to the last field."""
    report = verify(books, store, now=now, group=group, since=since)
    changes = proposed(report)
    seen = _shown(report, changes, note)
    if not write or not changes or not agree(seen):
        return seen
    try:
        refused = _mend(books, report)
        again = verify(books, store, now=now, group=group, since=since)
    except Transient as fault:
        raise OutcomeUnknown(f"{fault}; {_IN_PART}") from None
    made = tuple(replace(one, refused=refused.get(one.record)) for one in changes)
    return _shown(again, made, note, written=True)


def proposed(report: Report) -> tuple[Proposed, ...]:
    """What the ledger proves of all that was found, in its order."""
    return tuple(
        Proposed(one.group, change.record_id, change.field, change.old, change.new, one.text)
        for one in report.findings
        for change in one.changes
    )


def _mend(books: Books, report: Report) -> dict[str, str]:
    """Writes; answers the records that were not written, with the reason."""
    refused: dict[str, str] = {}
    for group in sorted(report.seen.values(), key=lambda one: one.id):
        changes = _of(group, report)
        if changes:
            refused |= books.mend(group, changes).refused
    leads = [change for one in report.findings for change in one.changes if change.field in _OF_LEADS]
    if leads:
        refused |= books.mend_leads(leads).refused
    return refused


def _of(group: Group, report: Report) -> list[Change]:
    records = {group.id, *(one.id for one in group.members)}
    return [change for one in report.findings for change in one.changes if change.record_id in records]


def _shown(report: Report, changes: tuple[Proposed, ...], note: str, *, written: bool = False) -> Verified:
    moving = [f"group '{key}' gave out leads at every look, and was not judged: ask again" for key in report.unsteady]
    return Verified(
        findings=report.findings,
        notes=tuple(filter(None, (*report.notes, *moving, note))),
        groups=report.groups,
        rows=report.rows,
        leads=report.leads,
        jobs=report.jobs,
        changes=changes,
        written=written,
        names={one.id: one.name for seen in report.seen.values() for one in seen.members},
    )
