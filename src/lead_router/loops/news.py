"""News: what a job's end gives somebody to be told, in words that name rules, groups and members, never the lead."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from lead_router.core.model import (
    Assign,
    Cause,
    Configuration,
    Count,
    Follow,
    LedgerRow,
    Outcome,
    Snapshot,
    ToOwner,
    Write,
)
from lead_router.ports import Done, Ending, Job, JobStore, Org
from lead_router.ports.notices import NewNotice, NoticeKind

ROUTED: Final = "already routed"
"""The reason of a skip, and what a job ends by whose commit the ledger holds."""

SKEW: Final = timedelta(minutes=1)
"""By how much the database's clock may be ahead of Salesforce's, whose times are to the second."""


def of_write(configuration: Configuration, write: Write) -> tuple[NewNotice, ...]:
    """Who got the lead, and why; of a lead that a member took by hand nobody need be told."""
    match write:
        case Assign(outcome=outcome, group_id=group):
            kind = _KINDS.get(outcome, NoticeKind.ASSIGNED)
            key = configuration.group_keys.get(group or "", "")
            return (_notice(write, kind, _why(write, key), _name(write), key),)
        case Follow(first_lead_id=first):
            why = f"A second lead of one submission: it follows lead {first}"
            return (_notice(write, NoticeKind.DUPLICATE, why, "", ""),)
        case Count():
            return ()


def of_routed(configuration: Configuration, snapshot: Snapshot, job: Job) -> tuple[NewNotice, ...]:
    """What a job that finds its lead routed by itself still has to tell: its end was not written down with the commit.

    Nothing where the lead has another owner by now, nor where the job is younger than the commit: then it was written
    anew after the database was lost or had forgotten it, and somebody may have been told long ago.
    """
    rows = [row for row in snapshot.ledger if row.lead_id == job.lead_id]
    last = max(rows, key=lambda row: row.round, default=None)
    lead = snapshot.leads.get(job.lead_id)
    if last is None or lead is None or last.idempotency_key != job.idempotency_key:
        return ()
    if last.assigned_to != lead.owner_id or last.outcome == Outcome.MANUAL:
        return ()
    if last.created_at is None or last.created_at < job.created_at - SKEW:
        return ()
    return (_of_row(configuration, snapshot, last, job),)


def with_news(
    org: Org, store: JobStore, configuration: Configuration, endings: Sequence[tuple[Job, Ending]]
) -> Sequence[tuple[Job, Ending]]:
    """The endings, with what those jobs still have to tell whose commit the ledger was found to hold.

    One call where there are such jobs, and somebody is told anything.
    """
    routed = [job for job, ending in endings if ending == Done(ROUTED)]
    if not routed or not store.notifies:
        return endings
    snapshot = org.snapshot(configuration, [job.lead_id for job in routed], ())
    found = {job.id: Done(ROUTED, of_routed(configuration, snapshot, job)) for job in routed}
    return [(job, found.get(job.id, ending)) for job, ending in endings]


_KINDS: Final = {Outcome.FALLBACK: NoticeKind.FALLBACK, Outcome.MATCHED: NoticeKind.MATCHED}
_BY_OUTCOME: Final = {str(outcome): kind for outcome, kind in _KINDS.items()} | {
    str(Outcome.DUPLICATE): NoticeKind.DUPLICATE
}


def _notice(write: Assign | Follow, kind: NoticeKind, why: str, name: str, group: str) -> NewNotice:
    again = f", round {write.round}" if write.round > 1 else ""
    return NewNotice(
        key=write.ask.idempotency_key,
        kind=kind,
        lead_id=write.lead.id,
        user_id=write.owner_id,
        round=write.round,
        reason=f"{why}{again}.",
        name=name,
        group=group,
    )


def _why(write: Assign, group: str) -> str:
    late = write.ask.cause is Cause.UNTOUCHED
    rule = "Not touched in time" if late else f"Rule '{write.rule.name}'" if write.rule is not None else "No rule"
    if late and write.turn is None:
        return f"{rule}, the manager of group '{group}'"
    if write.turn is not None:
        fell = "nobody else could take it: fallback " if write.outcome is Outcome.FALLBACK else ""
        return f"{rule}, {fell}group '{group}', turn {write.turn.number}"
    match write.outcome:
        case Outcome.FALLBACK:
            return f"{rule}, nobody of group '{group}' could take it"
        case Outcome.MATCHED:
            return f"{rule}, the owner of a matching record"
        case _:
            return f"{rule} names the owner"


def _name(write: Assign) -> str:
    if write.turn is not None:
        return write.turn.member.name
    target = write.rule.target if write.rule is not None else None
    return target.name if isinstance(target, ToOwner) and target.owner_id == write.owner_id else ""


def _of_row(configuration: Configuration, snapshot: Snapshot, row: LedgerRow, job: Job) -> NewNotice:
    key = configuration.group_keys.get(row.group_id or "", "")
    members = (one for group in snapshot.groups.values() for one in group.members)
    return NewNotice(
        key=job.idempotency_key,
        kind=_BY_OUTCOME.get(row.outcome, NoticeKind.ASSIGNED),
        lead_id=job.lead_id,
        user_id=row.assigned_to,
        round=row.round,
        reason=f"Outcome {row.outcome}{f', group {key!r}' * bool(key)}, round {row.round}.",
        name=next((one.name for one in members if one.user_id == row.assigned_to), ""),
        group=key,
    )
