"""What the log and the meter are told of a job's end."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import structlog

from lead_router.core.model import Assign, Configuration, Count, Follow, Write
from lead_router.loops.news import of_write
from lead_router.ports import Bury, Done, Ending, Job, Release, Retry
from lead_router.ports.meter import LEADS, NO_METER, STAGE, Meter

_log = structlog.get_logger(__name__)


class Teller:
    """Tells of one claim's jobs; `since_claim_s` is how long ago that was, in seconds."""

    def __init__(self, meter: Meter = NO_METER, since_claim_s: Callable[[], float] = lambda: 0.0) -> None:
        self._meter = meter
        self._since_claim_s = since_claim_s

    def ended(self, job: Job, ending: Ending) -> None:
        """A job ended, or will be tried again; a dead one is a warning."""
        told = {"lead": job.lead_id, "job": job.id, "ending": type(ending).__name__.lower()}
        match ending:
            case Bury(error=error):
                _log.warning("lead_settled", **told, error=error)
                self._meter.count(LEADS, "dead", "")
            case Retry():
                _log.info("lead_settled", **told)
                self._meter.count(LEADS, "retried", "")
            case Done() | Release():
                _log.info("lead_settled", **told)

    def skipped(self, job: Job, reason: str, *, observed: bool) -> None:
        """Nothing is to be done for the lead, for good; or somebody owns one that a group observed."""
        _log.info("lead_observed" if observed else "lead_skipped", lead=job.lead_id, reason=reason, job=job.id)
        self._meter.count(LEADS, "observed" if observed else "skipped", "")

    def held(self, job: Job, reason: str, group: str | None) -> None:
        """The lead waits, and shows it from now on."""
        _log.info("lead_held", lead=job.lead_id, reason=reason, job=job.id)
        self._meter.count(LEADS, "held", group or "")

    def written(self, configuration: Configuration, job: Job, write: Write, late: timedelta) -> Done:
        """The end of a job whose lead was written, so long after its event."""
        match write:
            case Assign(outcome=outcome, group_id=group, turn=turn, owner_id=owner, round=number):
                key = configuration.group_keys.get(group or "")
                _log.info(
                    "lead_assigned",
                    lead=job.lead_id,
                    outcome=outcome.lower(),
                    group=key,
                    turn=turn.number if turn else None,
                    member=turn.member.id if turn else None,
                    owner=owner,
                    round=number,
                    latency_ms=round(late / timedelta(milliseconds=1)),
                )
                self._owned(job, write, outcome.lower(), key, late)
                return Done(outcome.lower(), of_write(configuration, write))
            case Count(turn=turn, owner_id=owner):
                told = {"group": turn.group.key, "turn": turn.number, "member": turn.member.id, "owner": owner}
                _log.info("lead_counted", lead=job.lead_id, **told)
                self._meter.count(LEADS, "counted", turn.group.key)
                return Done("counted: taken by hand")
            case Follow(owner_id=owner, first_lead_id=first):
                _log.info("lead_followed", lead=job.lead_id, first=first, owner=owner)
                self._owned(job, write, "duplicate", None, late)
                return Done("duplicate", of_write(configuration, write))

    def _owned(self, job: Job, write: Write, outcome: str, group: str | None, late: timedelta) -> None:
        held = "yes" if job.waited else "no"
        self._meter.count(LEADS, outcome, group or "")
        recorded = (job.created_at - write.ask.event_at).total_seconds()
        self._meter.observe(STAGE, max(0.0, recorded), "event_recorded", held)
        self._meter.observe(STAGE, job.age_s, "recorded_claimed", held)
        self._meter.observe(STAGE, self._since_claim_s(), "claimed_committed", held)
        self._meter.observe(STAGE, max(0.0, late.total_seconds()), "event_owner", held)
