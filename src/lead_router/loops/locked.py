"""Locked leads: what others hold in Salesforce for longer than it waits, so that it is written last and apart."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from lead_router.loops.portions import Portion, begun
from lead_router.ports import Job, Release

REMEMBERED_FOR = timedelta(minutes=5)
REST_MAX_S = 60.0


class Locked:
    """The leads that one worker found locked, and how often each was in vain tried alone.

    All are forgotten after a while, since nothing tells of a lock's end. A lead that waits for members of its group is
    never set aside: newer leads would but wait behind it.
    """

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._tries: dict[str, int] = {}
        self._since = now()

    def begun(self, jobs: Sequence[Job]) -> list[Portion]:
        """A claim's portions: last, each by itself, the leads that were locked lately, those tried least first."""
        if self._now() - self._since > REMEMBERED_FOR:
            self._tries, self._since = {}, self._now()
        late = [job for job in jobs if job.lead_id in self._tries and not job.held]
        late.sort(key=lambda job: self._tries[job.lead_id])
        others = [job for job in jobs if job not in late] if late else jobs
        return [*begun(others), *(Portion((job,), last=True) for job in late)]

    def parted(self, portion: Portion, lead_ids: Collection[str]) -> list[Portion]:
        """The portion without these locked leads, and each of them alone and last; empty where that parts nothing."""
        late = [job for job in portion.jobs if job.lead_id in lead_ids and not job.held]
        rest = tuple(job for job in portion.jobs if job not in late)
        if not late or not rest:
            return []
        for job in late:
            self._tries.setdefault(job.lead_id, 0)
        return [replace(portion, jobs=rest), *(replace(portion, jobs=(job,), last=True) for job in late)]

    def tried(self, job: Job) -> None:
        """It was tried alone, and was locked."""
        self._tries[job.lead_id] = self._tries.get(job.lead_id, 0) + 1

    def put_back(self, job: Job, text: str, wait_s: Callable[[Job], float]) -> Release:
        """It comes again, ever later and at most after a minute; a lock is nobody's fault, so no attempt counts."""
        tries = max(self._tries.get(job.lead_id, 0), 1)
        return Release(min(wait_s(replace(job, attempts=tries)), REST_MAX_S), text, keeps_place=True)
