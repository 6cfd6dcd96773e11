"""Asks: a job's question, out of what was written down when it was recorded."""

from __future__ import annotations

from datetime import datetime

from lead_router.core.model import Ask, Cause
from lead_router.ports import Job


def ask_of(job: Job) -> Ask:
    """The job's question. What its payload does not tell, or in unknown words, is as for a new lead."""
    told, cause = job.payload.get("event_at"), job.payload.get("cause")
    event_at = datetime.fromisoformat(told) if isinstance(told, str) else job.created_at
    known = Cause(cause) if cause in set(Cause) else Cause.WAITING
    return Ask(job.id, job.idempotency_key, job.lead_id, event_at, job.age_s, known)
