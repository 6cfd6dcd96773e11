"""Rows as nouns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from lead_router.core.model import Submission
from lead_router.jobs.engine import Row
from lead_router.ports import (
    Job,
    JobView,
    ListenerView,
    Observation,
    Observed,
    QueueView,
    Sibling,
    StreamView,
    Waiting,
)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def job(row: Row) -> Job:
    """A claimed job out of what the claim returned."""
    return Job(
        id=row["id"],
        idempotency_key=row["idempotency_key"],
        lead_id=row["lead_id"],
        ordering_key=row["ordering_key"],
        payload=json.loads(row["payload"]),
        submission=_submission(row),
        attempts=row["attempts"],
        max_attempts=row["max_attempts"],
        claim_token=row["claim_token"],
        created_at=instant(row["created_at"]),
        age_s=row["age_ms"] / 1000,
        held=row["held_group"] is not None,
        waited=bool(row["waited"]),
    )


def job_view(row: Row) -> JobView:
    """A job as a person sees it."""
    return JobView(
        id=row["id"],
        status=row["status"],
        lead_id=row["lead_id"],
        idempotency_key=row["idempotency_key"],
        attempts=row["attempts"],
        max_attempts=row["max_attempts"],
        next_run_at=instant(row["next_run_at"]),
        locked_by=row["locked_by"],
        lease_until=_perhaps(row["lease_until"]),
        last_error=row["last_error"],
        outcome=row["outcome"],
        created_at=instant(row["created_at"]),
        completed_at=_perhaps(row["completed_at"]),
        payload=json.loads(row["payload"]),
    )


def waiting(row: Row) -> Waiting:
    """A job whose lead waits for members."""
    return Waiting(
        id=row["id"],
        idempotency_key=row["idempotency_key"],
        lead_id=row["lead_id"],
        payload=json.loads(row["payload"]),
        group_id=row["held_group"],
        created_at=instant(row["created_at"]),
        age_s=row["age_ms"] / 1000,
    )


def sibling(row: Row) -> Sibling:
    """A living job, of whose lead at least one submission key is known."""
    return Sibling(
        id=row["id"],
        idempotency_key=row["idempotency_key"],
        lead_id=row["lead_id"],
        payload=json.loads(row["payload"]),
        submission_keys=tuple(key for key in (row["submission_key"], row["submission_odd"]) if key is not None),
        created_at=instant(row["created_at"]),
        age_s=row["age_ms"] / 1000,
    )


def observed(row: Row) -> Observed:
    """An observation, beside what became of its job."""
    what = Observation(
        idempotency_key=row["idempotency_key"],
        lead_id=row["lead_id"],
        group_id=row["group_id"],
        group_key=row["group_key"],
        owner_id=row["owner_id"],
        explanation=row["explanation"],
        event_at=instant(row["event_at"]),
    )
    return Observed(what, instant(row["observed_at"]), _perhaps(row["completed_at"]))


def listener(row: Row) -> ListenerView:
    """Who listens to a channel."""
    listens = bool(row["listens"])
    return ListenerView(
        row["channel"],
        row["holder"],
        row["generation"],
        listens,
        age_s=row["age_ms"] / 1000,
        ended_age_s=None if listens else row["ended_age_ms"] / 1000,
        subscribed=listens and row["subscribed_at"] is not None,
        silent_since=_perhaps(row["silent_since"]),
        silent_leads=row["silent_leads"] or 0,
        turned_age_s=row["turned_age_ms"] / 1000 if listens else None,
    )


def queue_view(counts: Row, streams: Sequence[Row], listeners: Sequence[Row]) -> QueueView:
    """The queue at a glance."""
    return QueueView(
        queued=counts["queued"],
        due=counts["due"],
        held=counts["held"],
        working=counts["working"],
        done=counts["done"],
        dead=counts["dead"],
        oldest_open_age_s=_seconds(counts["oldest_open_age_ms"]),
        quarantined=counts["quarantined"],
        streams=tuple(
            StreamView(row["channel"], bytes(row["replay_id"]), age_s=row["age_ms"] / 1000) for row in streams
        ),
        last_sweep_age_s=_seconds(counts["last_sweep_age_ms"]),
        sweep_requested=counts["sweep_requested"],
        listeners=tuple(map(listener, listeners)),
    )


def instant(milliseconds: int) -> datetime:
    """A stored time, aware and in UTC."""
    return _EPOCH + timedelta(milliseconds=milliseconds)


def milliseconds(at: datetime | None) -> int | None:
    """An instant as it is stored."""
    return None if at is None else (at - _EPOCH) // timedelta(milliseconds=1)


def _submission(row: Row) -> Submission | None:
    even, odd = row["submission_key"], row["submission_odd"]
    return None if even is None or odd is None else Submission(even, odd)


def _perhaps(milliseconds: int | None) -> datetime | None:
    return None if milliseconds is None else instant(milliseconds)


def _seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000
