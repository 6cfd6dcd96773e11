"""Nouns as rows: what the statements are handed."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

from lead_router.core.model import Submission
from lead_router.jobs import views
from lead_router.ports import Bury, Done, Ending, Job, NewJob, Observation, Release, Retry

TEXT_MAX: Final = 4_000
"""Characters kept of an error, outcome or reason."""


def recorded(job: NewJob) -> Mapping[str, Any]:
    """A new job."""
    return {
        "idempotency_key": job.idempotency_key,
        "lead_id": job.lead_id,
        "ordering_key": job.ordering_key,
        "payload": json.dumps(dict(job.payload)),
        "submission_even": None,
        "submission_odd": None,
        **_submission(job.submission),
    }


def _submission(found: Submission | None) -> Mapping[str, Any]:
    return {} if found is None else {"submission_even": found.even, "submission_odd": found.odd}


def noted(one: Observation) -> Mapping[str, Any]:
    """An observation."""
    return {
        "idempotency_key": one.idempotency_key,
        "lead_id": one.lead_id,
        "group_id": one.group_id,
        "group_key": one.group_key,
        "owner_id": one.owner_id,
        "explanation": storable(one.explanation),
        "event_at": views.milliseconds(one.event_at),
    }


def ended(job: Job, ending: Ending) -> Mapping[str, Any]:
    """What becomes of a claim."""
    held = {"id": job.id, "token": job.claim_token}
    match ending:
        case Done(outcome=outcome):
            return {**held, "verb": "done", "outcome": storable(outcome)}
        case Retry(delay_s, error):
            return {**held, "verb": "retry", "delay_ms": in_ms(delay_s), "error": storable(error)}
        case Release(delay_s, reason, group_id, since, submission, keeps_place):
            waits = {"held_group": group_id, "held_since": views.milliseconds(since)} if group_id else {}
            keeps = {"keeps": "place"} if keeps_place else {}
            return {
                **held,
                "verb": "release",
                "delay_ms": in_ms(delay_s),
                "error": storable(reason),
                **waits,
                **keeps,
                **_submission(submission),
            }
        case Bury(error):
            return {**held, "verb": "bury", "error": storable(error)}


def listed(nouns: Iterable[Mapping[str, Any]]) -> str:
    """The statements' parameter `:rows`. No letter is escaped: a server without an encoding refuses to read that."""
    return json.dumps(list(nouns), ensure_ascii=False)


def storable(told: str) -> str:
    """What either database can store: no NUL, no half of a surrogate pair, bounded."""
    return told[:TEXT_MAX].replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode("utf-8")


def in_ms(seconds: float) -> int:
    """Milliseconds, rounded up: a wait is never shorter than asked for."""
    return math.ceil(seconds * 1000)
