"""The durable queue of one org: one statement per verb, two where a sentence says why, over either engine.

record ──▶ queued ──claim──▶ working ──end──▶ done
             ▲                 │  │
             └─ retry, release ┘  ├─ bury, retry without attempts left ──▶ dead ── discard ──▶ done
             ▲   lease expired    └─ lease expired, no attempts left ────▶ dead
             └─────────────────────────────── revive ──────────────────────┘
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from lead_router.errors import Superseded
from lead_router.jobs import forgetting, listener_statements, observing, views
from lead_router.jobs import statements as sql
from lead_router.jobs.chronicle import SqlChronicle
from lead_router.jobs.depths import SqlDepths
from lead_router.jobs.engine import Engine, Row, Step
from lead_router.jobs.enrichments import SqlEnrichments
from lead_router.jobs.listeners import SqlListeners, fence_of
from lead_router.jobs.notices import SqlNotices
from lead_router.jobs.sweeps import SqlSweeps
from lead_router.jobs.touches import SqlTouches
from lead_router.jobs.writing import ended, in_ms, listed, noted, recorded, storable
from lead_router.ports import (
    Done,
    Ending,
    Hold,
    Job,
    JobView,
    NewJob,
    Observation,
    Observed,
    Position,
    QueueView,
    Recorded,
    Sibling,
    Unreadable,
    Waiting,
    Wanted,
)
from lead_router.ports.notices import ChannelsOf, nowhere

CLAIM_MAX: Final = 200
"""Jobs per claim: as many leads as one commit takes."""

ATTEMPTS_MAX: Final = 12
"""Attempts that a job is given when it is recorded."""

DISCARDED_KEPT_S: Final = 365 * 86_400.0
"""Seconds for which at least a discarded job is remembered: until then no sweep brings its lead again."""


class SqlJobStore(SqlListeners, SqlSweeps, SqlChronicle, SqlEnrichments, SqlNotices, SqlDepths, SqlTouches):
    """See JobStore. Rows of other orgs in the same database are neither seen nor touched."""

    def __init__(
        self, engine: Engine, *, org_id: str, max_attempts: int = ATTEMPTS_MAX, channels: ChannelsOf = nowhere
    ) -> None:
        super().__init__(engine, org_id=org_id)
        self._channels = channels
        self._max_attempts = max_attempts

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
        """One transaction: neither an event without its job nor a job without its position, nor a change unasked.

        An org's recorders go one after the other: so the jobs' numbers tell the order in which they became visible, and
        two that bring the same jobs in another order do not wait for each other. A hold is kept first: its row stays
        locked to the end, and each statement asks for it.
        """
        fence = fence_of(hold)
        steps = [self._step(sql.LINE_UP)] if hold is None else [self._step(sql.LINE_UP), self._kept(hold)]
        if position is not None:
            at = {"channel": position.channel, "replay_id": position.replay_id}
            steps.append(self._step(sql.RECORD_POSITION, **at, **fence))
        steps += [self._quarantined(event, fence) for event in unreadable]
        if sweep is not None:
            steps.append(self._step(sql.REQUEST_SWEEP, reason=storable(sweep), **fence))
        if changed:
            rows = listed({"lead_id": lead_id} for lead_id in sorted(changed))
            steps.append(self._step(sql.ASK_CHANGED, rows=rows, **fence))
        if wanted is not None and jobs:
            steps.insert(len(steps) - bool(changed), self._wanted(jobs, wanted, fence))
        steps.append(self._recorded(jobs, fence, wait_s=wanted.wait_s if wanted is not None else 0.0))
        answers = self._engine.write(steps)
        if hold is not None and not answers[1]:
            raise Superseded(f"another router listens to {hold.channel}: nothing was recorded")
        created = len(answers[-1])
        return Recorded(created=created, known=len(jobs) - created, asked=len(answers[-2]) if changed else 0)

    def position(self, channel: str) -> Position | None:
        """The position last recorded for a channel, byte for byte."""
        rows = self._read(sql.POSITION, channel=channel)
        return Position(channel, bytes(rows[0]["replay_id"])) if rows else None

    def claim(self, worker: str, *, limit: int, lease_s: float) -> list[Job]:
        """Two statements in one transaction: jobs that crashed for good hold back their key until they are buried.

        Not synced: a claim that a lost machine forgot is a job that is claimed again, and routed once all the same.
        """
        if limit < 1:
            return []
        values = {
            "worker": worker,
            "lease_ms": in_ms(lease_s),
            "limit": min(limit, CLAIM_MAX),
            "token": uuid.uuid4().hex,
        }
        steps = [self._step(sql.BURY_CRASHED), self._step(sql.CLAIM, **values)]
        rows = self._engine.write(steps, synced=False)[1]
        return [
            views.job(row) for row in sorted(rows, key=lambda row: (row["next_run_at"], row["attempts"], row["id"]))
        ]

    def renew(self, jobs: Sequence[Job], *, lease_s: float) -> frozenset[int]:
        """A lease that ran out is renewed all the same while nobody else has claimed the job."""
        held = listed({"id": job.id, "token": job.claim_token} for job in sorted(jobs, key=lambda job: job.id))
        return self._ids(self._write(sql.RENEW, rows=held, lease_ms=in_ms(lease_s))) if jobs else frozenset()

    def end(self, endings: Sequence[tuple[Job, Ending]], *, sweep: str | None = None) -> frozenset[int]:
        """A Retry of a job without attempts left buries it. Notices are written down whoever holds the claims by now.

        Not synced where all are Done alone: what a lost machine forgot is told to the next claim by ledger and lead.
        """
        if not endings:
            return frozenset()
        rows = listed(ended(job, ending) for job, ending in sorted(endings, key=lambda pair: pair[0].id))
        synced = sweep is not None or not all(isinstance(ending, Done) for _, ending in endings)
        asked = [] if sweep is None else [self._step(sql.REQUEST_SWEEP, reason=storable(sweep), **fence_of(None))]
        told = [notice for _, ending in endings if isinstance(ending, Done) for notice in ending.notices]
        steps = [self._step(sql.END, rows=rows), *self._notified(told), *asked]
        return self._ids(self._engine.write(steps, synced=synced, tidies=True)[0])

    def holders(self) -> frozenset[str]:
        """The names under which claims are held now, their leases expired or not, and of those that listen."""
        return frozenset(row["name"] for row in self._read(sql.HOLDERS))

    def abandon(self, worker: str) -> int:
        """The fences stay: should it live after all, it finds its claims and its channel lost before it writes."""
        steps = [self._step(sql.ABANDON, worker=worker), self._step(listener_statements.ABANDON, worker=worker)]
        return len(self._engine.write(steps)[0])

    def open_leads(self, lead_ids: Sequence[str]) -> frozenset[str]:
        """Those of the leads that have a queued, working or dead job."""
        rows = self._read(sql.OPEN_LEADS, rows=listed({"lead_id": lead_id} for lead_id in lead_ids))
        return frozenset(row["lead_id"] for row in rows)

    def asked_lately(self, lead_ids: Sequence[str], *, within_s: float) -> frozenset[str]:
        """Those of the leads that have a job at work, or one that was done within that time."""
        rows = listed({"lead_id": lead_id} for lead_id in lead_ids)
        found = self._read(sql.ASKED_LATELY, rows=rows, within_ms=in_ms(within_s)) if lead_ids else []
        return frozenset(row["lead_id"] for row in found)

    def deaths(self, lead_ids: Sequence[str]) -> Mapping[str, datetime]:
        """When the last job died of those leads that have dead jobs and no open one."""
        rows = self._read(sql.DEATHS, rows=listed({"lead_id": lead_id} for lead_id in lead_ids))
        return {row["lead_id"]: views.instant(row["died_at"]) for row in rows}

    def discards(self, lead_ids: Sequence[str]) -> Mapping[str, datetime]:
        """When a person last discarded a job of those leads, whatever other jobs they have."""
        rows = self._read(sql.DISCARDS, rows=listed({"lead_id": lead_id} for lead_id in lead_ids))
        return {row["lead_id"]: views.instant(row["discarded_at"]) for row in rows}

    def by_hand(self, lead_ids: Sequence[str]) -> list[JobView]:
        """Oldest first."""
        rows = listed({"lead_id": lead_id} for lead_id in lead_ids)
        return [views.job_view(row) for row in self._read(sql.BY_HAND, rows=rows)] if lead_ids else []

    def queue(self) -> QueueView:
        """Three statements in one snapshot: counts, the streams' positions, and who listens."""
        looks = (sql.COUNTS, sql.STREAMS, listener_statements.LISTENERS)
        counts, streams, listeners = self._engine.read([self._step(look) for look in looks])
        return views.queue_view(counts[0], streams, listeners)

    def jobs(self, *, status: str | None = None, limit: int = 50) -> list[JobView]:
        """Newest first."""
        if status not in sql.JOBS:
            raise ValueError(f"{status!r} is no status: queued, working, done or dead")
        return [views.job_view(row) for row in self._read(sql.JOBS[status], limit=limit)]

    def job(self, job_id: int) -> JobView | None:
        """One job, by the number that `jobs` shows."""
        rows = self._read(sql.JOB, id=job_id)
        return views.job_view(rows[0]) if rows else None

    def jobs_of(self, lead_id: str, *, limit: int) -> list[JobView]:
        """Those that are done are read through, which a person who waits for one lead does not notice."""
        return [views.job_view(row) for row in self._read(sql.JOBS_OF, lead_id=lead_id, limit=limit)]

    def ask_held(self) -> int:
        """One that is being claimed is being asked anyway, and is passed over."""
        return len(self._write(sql.ASK_HELD))

    def waiting(self, *, limit: int) -> list[Waiting]:
        """The first of every group, then the second of every group, and so on: no group hides another one's."""
        return [views.waiting(row) for row in self._read(sql.WAITING, limit=limit)]

    def siblings(self, keys: Sequence[str]) -> list[Sibling]:
        """Of each key the one that was recorded first."""
        rows = self._read(sql.SIBLINGS, rows=listed({"key": key} for key in sorted(keys))) if keys else []
        return [views.sibling(row) for row in rows]

    def ask_leads(self, lead_ids: Sequence[str]) -> int:
        """As ask_held, for some leads."""
        rows = listed({"lead_id": lead_id} for lead_id in sorted(lead_ids))
        return len(self._write(sql.ASK_LEADS, rows=rows)) if lead_ids else 0

    def observe(self, observations: Sequence[Observation], rotations: Mapping[str, Mapping[str, Any]]) -> None:
        """An owner once thought of for a job stays, however often it is asked again."""
        states = ({"group_id": group, "rotation": json.dumps(dict(one))} for group, one in sorted(rotations.items()))
        kept = sorted(map(noted, observations), key=lambda row: str(row["idempotency_key"]))
        self._engine.write(
            [
                self._step(observing.OBSERVE, rows=listed(kept)),
                self._step(observing.TURN_OBSERVED, rows=listed(states)),
            ]
        )

    def observed(self, keys: Sequence[str]) -> Mapping[str, str | None]:
        """The owners thought of for the jobs, by idempotency key, of those that were observed."""
        rows = self._read(observing.OBSERVED, rows=listed({"key": key} for key in keys)) if keys else []
        return {row["idempotency_key"]: row["owner_id"] for row in rows}

    def rotations(self) -> Mapping[str, Mapping[str, Any]]:
        """Where the rotations of observing groups would stand, by group id."""
        return {row["group_id"]: json.loads(row["rotation"]) for row in self._read(observing.ROTATIONS)}

    def observations(self, *, limit: int) -> list[Observed]:
        """Newest first."""
        return [views.observed(row) for row in self._read(observing.OBSERVATIONS, limit=limit)]

    def observations_of(self, lead_id: str, *, limit: int) -> list[Observed]:
        """Looks through all of them."""
        rows = self._read(observing.OBSERVATIONS_OF, lead_id=lead_id, limit=limit)
        return [views.observed(row) for row in rows]

    def revive(self, job_id: int) -> bool:
        """A person retries a dead job: queued at once with fresh attempts, ahead of later jobs of its key."""
        return bool(self._write(sql.REVIVE, id=job_id))

    def discard(self, job_id: int, reason: str) -> bool:
        """A person ends a dead job for good; its last error and attempts stay readable."""
        return bool(self._write(sql.DISCARD, id=job_id, outcome=storable(f"discarded: {reason}")))

    def forget(self, *, older_than_s: float, limit: int) -> int:
        """Delete up to `limit` done jobs that ended longer ago, the longest first.

        Forgetting a job forgets its idempotency key: the same event handed in later makes a new job. No lead is routed
        twice by that, since the ledger and the lead's stamp keep the key too and the new job ends as already routed;
        it costs two API calls. Older than the stream's retention (72 hours) no event can come again. Open and dead jobs
        are never forgotten; discarded ones not within DISCARDED_KEPT_S.
        """
        older_ms, discarded_ms = in_ms(older_than_s), in_ms(max(older_than_s, DISCARDED_KEPT_S))
        return len(self._write(forgetting.FORGET, older_ms=older_ms, discarded_ms=discarded_ms, limit=limit))

    def forget_observations(self, *, older_than_s: float, limit: int) -> int:
        """The oldest first."""
        return len(self._write(forgetting.FORGET_OBSERVED, older_ms=in_ms(older_than_s), limit=limit))

    def forget_unreadable(self, *, older_than_s: float, keep: int, limit: int) -> int:
        """The oldest first; of two reasons to forget one, its age and the number of newer ones, either is enough."""
        older_ms = in_ms(older_than_s)
        return len(self._write(forgetting.FORGET_UNREADABLE, older_ms=older_ms, keep=keep, limit=limit))

    def close(self) -> None:
        """Leases stay as they are: claims not ended are taken over when they run out."""
        self._engine.close()

    def _recorded(self, jobs: Sequence[NewJob], fence: Mapping[str, Any], *, wait_s: float) -> Step:
        rows = [recorded(job) for job in jobs]
        values = {"max_attempts": self._max_attempts, "wait_ms": in_ms(wait_s), **fence}
        if len(rows) == 1:
            return self._step(sql.RECORD_JOB, **values, **rows[0])
        return self._step(sql.RECORD_JOBS, rows=listed(rows), **values)

    def _quarantined(self, event: Unreadable, fence: Mapping[str, Any]) -> Step:
        digest = hashlib.sha256(event.body).hexdigest()
        values = {"channel": event.channel, "digest": digest, "body": event.body, "reason": storable(event.reason)}
        return self._step(sql.RECORD_UNREADABLE, **values, **fence)

    @staticmethod
    def _ids(rows: Iterable[Row]) -> frozenset[int]:
        return frozenset(row["id"] for row in rows)
