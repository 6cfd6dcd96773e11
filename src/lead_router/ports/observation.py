"""What groups that only observe would have done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol


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


class Observations(Protocol):
    """The part of the job store that keeps them. Raises StoreUnavailable as the rest of it does."""

    def observe(self, observations: Sequence[Observation], rotations: Mapping[str, Mapping[str, Any]]) -> None:
        """Write down what would have been done and, by group id, where rotations would stand, in one transaction."""
        ...

    def observed(self, keys: Sequence[str]) -> Mapping[str, str | None]:
        """The owners thought of for the jobs, by idempotency key, of those that were observed."""
        ...

    def rotations(self) -> Mapping[str, Mapping[str, Any]]:
        """Where the rotations of observing groups would stand, by group id."""
        ...

    def observations(self, *, limit: int) -> list[Observed]:
        """Observations, newest first."""
        ...

    def observations_of(self, lead_id: str, *, limit: int) -> list[Observed]:
        """A lead's observations, newest first."""
        ...

    def forget_observations(self, *, older_than_s: float, limit: int) -> int:
        """Delete up to `limit` older observations; how many it were."""
        ...
