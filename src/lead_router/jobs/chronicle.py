"""The chronicle: all jobs, page by page, along an index each."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from lead_router.jobs import views
from lead_router.jobs.statements import ALL_JOBS
from lead_router.jobs.verbs import Verbs
from lead_router.ports import JobView

_AFTER: Final = ALL_JOBS + " AND id > :after ORDER BY id LIMIT :limit"

_DONE_AFTER: Final = (
    ALL_JOBS
    + """ AND status = 'done' AND completed_at >= :since AND (completed_at > :since OR id > :after)
    ORDER BY completed_at, id LIMIT :limit
"""
)


class SqlChronicle(Verbs):
    """See Chronicle."""

    def jobs_after(self, job_id: int, *, limit: int) -> list[JobView]:
        """By their numbers."""
        return [views.job_view(row) for row in self._read(_AFTER, after=job_id, limit=limit)]

    def done_after(self, at: datetime, job_id: int, *, limit: int) -> list[JobView]:
        """By their ends; one whose end was told late may be passed over where its pages were read before."""
        since = views.milliseconds(at)
        return [views.job_view(row) for row in self._read(_DONE_AFTER, since=since, after=job_id, limit=limit)]
