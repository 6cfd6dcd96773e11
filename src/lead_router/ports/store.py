"""The durable queue of jobs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeAlias

from lead_router.core.model import Submission
from lead_router.ports.chronicle import Chronicle
from lead_router.ports.depths import DepthsStore
from lead_router.ports.enrichment import Enrichments, Wanted
from lead_router.ports.listener import Hold, Listeners
from lead_router.ports.notices import NewNotice, Notices
from lead_router.ports.observation import Observations
from lead_router.ports.queue import QueueView
from lead_router.ports.stream import Position, Unreadable
from lead_router.ports.sweeps import Sweeps
from lead_router.ports.touches import Touches


@dataclass(frozen=True, slots=True)
class NewJob:
    """A durable intention to route one lead, to be written once however often it is handed in."""

    idempotency_key: str
    lead_id: str
    ordering_key: str
    payload: Mapping[str, Any]
    submission: Submission | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """A claimed job. `claim_token` fences: only the attempt that holds it may end the job. Times are aware UTC.

    `held` says that it was last put back because its lead waited for members of a group, `waited` that it was because
    nobody might have the lead, whatever the reason.
    """

    id: int
    idempotency_key: str
    lead_id: str
    ordering_key: str
    payload: Mapping[str, Any]
    submission: Submission | None
    attempts: int
    max_attempts: int
    claim_token: str
    created_at: datetime
    age_s: float
    held: bool = False
    waited: bool = False


@dataclass(frozen=True, slots=True)
class Waiting:
    """A living job whose lead waits for members of the group; it may be claimed at this moment."""

    id: int
    idempotency_key: str
    lead_id: str
    payload: Mapping[str, Any]
    group_id: str
    created_at: datetime
    age_s: float


@dataclass(frozen=True, slots=True)
class Sibling:
    """A living job of a lead with these submission keys, one or two; it may be claimed at this moment."""

    id: int
    idempotency_key: str
    lead_id: str
    payload: Mapping[str, Any]
    submission_keys: tuple[str, ...]
    created_at: datetime
    age_s: float


@dataclass(frozen=True, slots=True)
class JobView:
    """A job as a person sees it (`lead-router jobs`)."""

    id: int
    status: str
    lead_id: str
    idempotency_key: str
    attempts: int
    max_attempts: int
    next_run_at: datetime
    locked_by: str | None
    lease_until: datetime | None
    last_error: str | None
    outcome: str | None
    created_at: datetime
    completed_at: datetime | None
    payload: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a recording did: new jobs, those whose key was known, and jobs of changed leads that are asked again."""

    created: int
    known: int
    asked: int = 0


@dataclass(frozen=True, slots=True)
class Retry:
    """Try the job again in `delay_s` seconds; the attempt counts."""

    delay_s: float
    error: str


@dataclass(frozen=True, slots=True)
class Release:
    """Put the job back for `delay_s` seconds; the attempt does not count.

    `group_id` says that its lead waits for members of that group, or for its mode, in the order of what happened first:
    `since`. `submission` is that of its lead as it was last read, None where it was not. `keeps_place`: nothing was
    decided, so that a lead which waited for a group's members waits on, and no newer one overtakes it.
    """

    delay_s: float
    reason: str
    group_id: str | None = None
    since: datetime | None = None
    submission: Submission | None = None
    keeps_place: bool = False


@dataclass(frozen=True, slots=True)
class Bury:
    """Give up; the job waits for a person."""

    error: str


@dataclass(frozen=True, slots=True)
class Done:
    """The job is finished; `outcome` in glossary words (`assigned`, `duplicate`, `skipped: already owned`).

    `notices` tell of it, and are written down with it or not at all.
    """

    outcome: str
    notices: tuple[NewNotice, ...] = ()


Ending: TypeAlias = Done | Retry | Release | Bury


class JobStore(Listeners, Sweeps, Chronicle, Enrichments, Notices, Observations, DepthsStore, Touches, Protocol):
    """The durable queue of one org. An instance belongs to one thread. All times are the database's own.

    Every verb raises StoreUnavailable when the database does not carry it out; nothing is then kept.
    """

    def record(
        self,
        jobs: Sequence[NewJob],
        *,
        position: Position | None = None,
        unreadable: Sequence[Unreadable] = (),
        sweep: str | None = None,
        changed: Collection[str] = (),
        hold: Hold | None = None,
        wanted: Wanted | None = None,
    ) -> Recorded:
        """Write jobs, stream position, quarantined events and a request for a sweep in one transaction.

        Held jobs of the `changed` leads, by id, are due now; those at work keep their claim, and are due as soon as it
        ends by being held. No other job is touched. New jobs' leads are enriched as far as that is `wanted`.
        With a hold it is kept by that; raises Superseded, with nothing written, where another one holds the channel.
        """
        ...

    def position(self, channel: str) -> Position | None:
        """The position last recorded for a channel."""
        ...

    def claim(self, worker: str, *, limit: int, lease_s: float) -> list[Job]:
        """Claim due jobs, oldest first, one head per ordering key; each claim uses an attempt.

        Expired leases are claimed too; a job whose lease expired with all attempts used is buried instead.
        """
        ...

    def renew(self, jobs: Sequence[Job], *, lease_s: float) -> frozenset[int]:
        """Extend the leases still held; the answer holds the ids of those jobs, the others are lost."""
        ...

    def end(self, endings: Sequence[tuple[Job, Ending]], *, sweep: str | None = None) -> frozenset[int]:
        """End claims, all in one transaction; the answer holds the ids of jobs whose claim was still held.

        `sweep` asks for one in the same transaction: it finds them ended, and is not forgotten where they are.
        """
        ...

    def holders(self) -> frozenset[str]:
        """The names under which claims are held now, their leases expired or not, and of those that listen."""
        ...

    def abandon(self, worker: str) -> int:
        """A worker or listener is known to be dead: its leases end now; answers how many jobs others may claim."""
        ...

    def open_leads(self, lead_ids: Sequence[str]) -> frozenset[str]:
        """Those of the leads that have a queued, working or dead job."""
        ...

    def asked_lately(self, lead_ids: Sequence[str], *, within_s: float) -> frozenset[str]:
        """Those of the leads that have a job at work, or one that was done within that time."""
        ...

    def deaths(self, lead_ids: Sequence[str]) -> Mapping[str, datetime]:
        """When the last job died of those leads that have dead jobs and no queued or working one."""
        ...

    def discards(self, lead_ids: Sequence[str]) -> Mapping[str, datetime]:
        """When a person last ended a dead job for good, of those of the leads of which one did."""
        ...

    def by_hand(self, lead_ids: Sequence[str]) -> list[JobView]:
        """The jobs of these leads, as far as they are kept, whose events tell that a person gave the lead to someone.

        Their payloads name that person under `given_by`.
        """
        ...

    def queue(self) -> QueueView:
        """The queue, the streams and the sweep at a glance."""
        ...

    def jobs(self, *, status: str | None = None, limit: int = 50) -> list[JobView]:
        """Jobs, newest first."""
        ...

    def job(self, job_id: int) -> JobView | None:
        """One job by its number."""
        ...

    def jobs_of(self, lead_id: str, *, limit: int) -> list[JobView]:
        """A lead's jobs, newest first."""
        ...

    def ask_held(self) -> int:
        """What held jobs waited for may have come: those released with a reason that begins `held:` are due now.

        The answer is how many.
        """
        ...

    def waiting(self, *, limit: int) -> list[Waiting]:
        """Jobs released with a group and not ended otherwise since: the longest waiting of each group first."""
        ...

    def siblings(self, keys: Sequence[str]) -> list[Sibling]:
        """Queued and working jobs of leads with these submission keys, of each key the one that was recorded first."""
        ...

    def ask_leads(self, lead_ids: Sequence[str]) -> int:
        """Those of the leads that are held, for whatever reason, are due now; the answer is how many."""
        ...

    def revive(self, job_id: int) -> bool:
        """A person retries a dead job: queued at once with fresh attempts. False if it is not dead."""
        ...

    def discard(self, job_id: int, reason: str) -> bool:
        """A person ends a dead job for good, keeping its story. False if it is not dead."""
        ...

    def forget(self, *, older_than_s: float, limit: int) -> int:
        """Delete up to `limit` done jobs that ended longer ago (discarded ones: a year); how many it were."""
        ...

    def forget_unreadable(self, *, older_than_s: float, keep: int, limit: int) -> int:
        """Delete up to `limit` unreadable events, those not delivered lately and all but the newest `keep`."""
        ...

    def close(self) -> None:
        """Free the connection."""
        ...
