"""What the log says of a job's end."""

from __future__ import annotations

from datetime import timedelta

import structlog

from lead_router.core.model import Assign, Configuration, Count, Follow, Write
from lead_router.loops.news import of_write
from lead_router.ports import Bury, Done, Ending, Job, Release, Retry

_log = structlog.get_logger(__name__)


def tell(job: Job, ending: Ending) -> None:
    """A job ended, or will be tried again; a dead one is a warning."""
    told = {"lead": job.lead_id, "job": job.id, "ending": type(ending).__name__.lower()}
    match ending:
        case Bury(error=error):
            _log.warning("lead_settled", **told, error=error)
        case Done() | Retry() | Release():
            _log.info("lead_settled", **told)


def written(configuration: Configuration, job: Job, write: Write, late: timedelta) -> Done:
    """The end of a job whose lead was written, so long after its event."""
    match write:
        case Assign(outcome=outcome, group_id=group, turn=turn, owner_id=owner, round=number):
            _log.info(
                "lead_assigned",
                lead=job.lead_id,
                outcome=outcome.lower(),
                group=configuration.group_keys.get(group or ""),
                turn=turn.number if turn else None,
                member=turn.member.id if turn else None,
                owner=owner,
                round=number,
                latency_ms=round(late / timedelta(milliseconds=1)),
            )
            return Done(outcome.lower(), of_write(configuration, write))
        case Count(turn=turn, owner_id=owner):
            told = {"group": turn.group.key, "turn": turn.number, "member": turn.member.id, "owner": owner}
            _log.info("lead_counted", lead=job.lead_id, **told)
            return Done("counted: taken by hand")
        case Follow(owner_id=owner, first_lead_id=first):
            _log.info("lead_followed", lead=job.lead_id, first=first, owner=owner)
            return Done("duplicate", of_write(configuration, write))
