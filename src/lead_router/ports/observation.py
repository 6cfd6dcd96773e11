"""What groups that only observe would have done."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Observation:
    """Whom a group would have given a lead to, by one job; `owner_id` None: nobody could have had it."""

    idempotency_key: str
    lead_id: str
    group_id: str
    group_key: str
    owner_id: str | None
    explanation: str
    event_at: datetime


@dataclass(frozen=True, slots=True)
class Observed:
    """An observation as kept; `owned_at` is when its job found that somebody owns the lead, None where none has."""

    what: Observation
    observed_at: datetime
    owned_at: datetime | None
