"""What the log says of a job's end."""

from __future__ import annotations

import structlog

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
