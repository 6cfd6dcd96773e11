"""Asks: a job's question, out of what was written down when it was recorded; and how long a held job rests."""

from __future__ import annotations

from datetime import datetime, timedelta

from lead_router.core.ids import is_id, to18
from lead_router.core.keys import submission_of
from lead_router.core.model import Ask, Cause, Configuration, Hold
from lead_router.ports import Job, JobView, Release, Sibling, Waiting

REST_MIN_S = 1.0
REST_MAX_S = 900.0
UNASSIGNED_UNDER = "unassigned_under"  # the payload's word for the owner of a lead that was seen to be unassigned


def ask_of(job: Job | Waiting | Sibling) -> Ask:
    """The job's question. What its payload does not tell, or in unknown words, is as for a new lead."""
    cause = job.payload.get("cause")
    known = Cause(cause) if cause in set(Cause) else Cause.WAITING
    owner = job.payload.get(UNASSIGNED_UNDER)
    before = to18(owner) if isinstance(owner, str) and is_id(owner) else None
    held = isinstance(job, Waiting) or (isinstance(job, Job) and job.held)
    return Ask(job.id, job.idempotency_key, job.lead_id, event_at(job), job.age_s, known, before, held)


def event_at(job: Job | JobView | Waiting | Sibling) -> datetime:
    """When that happened which the job is about, by Salesforce's clock; else when it was recorded, by our own."""
    told = job.payload.get("event_at")
    return datetime.fromisoformat(told) if isinstance(told, str) else job.created_at


def held(hold: Hold, configuration: Configuration, now: datetime) -> Release:
    """The held job rests until somebody may be able to take its lead, and never longer than 15 minutes.

    Later leads of its submission find it by the keys of the lead as it was read.
    """
    rest_s = hold.retry_s
    if hold.until is not None:
        rest_s = min(rest_s, (hold.until - now) / timedelta(seconds=1))
    rest_s = min(max(rest_s, REST_MIN_S), REST_MAX_S)
    submission = None if hold.lead is None else submission_of(hold.lead.fields, configuration)
    return Release(rest_s, f"held: {hold.reason}", hold.group_id, hold.ask.event_at, submission)
