"""Remarking: leads whose jobs died unseen, as their router was killed or Salesforce away, show it after two sweeps."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import structlog

from lead_router.core.model import Lead, Status
from lead_router.errors import LeadRouterError
from lead_router.loops.marking import tell
from lead_router.ports import JobStore, Mark, Org, Refusal

_log = structlog.get_logger(__name__)

MARKED_MAX = 200  # a sweep, in eight calls: what killed very many at once has them shown little by little
DEAD_MAX = 1_000  # the newest dead jobs, whose texts are read
UNTOLD = "its job died: see `lead-router jobs list --status dead`"


class Unshown:
    """Unassigned leads with a dead job that do not show Failed, by sweep.

    Only one that an earlier sweep saw just so is marked: its router had the time to, and whatever changes it after this
    sweep read it bears a later second. One that refuses is asked again by the next process.
    """

    def __init__(self, org: Org, store: JobStore) -> None:
        self._org = org
        self._store = store
        self._before: dict[str, datetime | None] = {}
        self._now: dict[str, Lead] = {}
        self._refused: set[str] = set()

    def begin(self) -> None:
        """A sweep begins, perhaps anew."""
        self._now = {}

    def note(self, leads: Iterable[Lead]) -> None:
        """The sweep found these."""
        for lead in leads:
            if len(self._now) < DEAD_MAX and lead.id not in self._refused:
                self._now[lead.id] = lead

    def show(self) -> None:
        """The sweep is over: show Failed on those that an earlier one saw, too. What is refused is logged."""
        before, self._before = self._before, {lead.id: lead.changed_at for lead in self._now.values()}
        due = [lead for lead in self._now.values() if lead.id in before and before[lead.id] == lead.changed_at]
        if not due:
            return
        texts = {job.lead_id: job.last_error for job in reversed(self._store.jobs(status="dead", limit=DEAD_MAX))}
        marks = [Mark(lead, Status.FAILED, texts.get(lead.id) or UNTOLD) for lead in due[:MARKED_MAX]]
        try:
            faults = self._org.mark(marks)
        except LeadRouterError as fault:
            _log.warning("leads_not_marked", leads=len(marks), error=str(fault))
            return
        tell(faults)
        self._refused |= {lead_id for lead_id, fault in faults.items() if isinstance(fault, Refusal)}
        _log.info("leads_remarked", leads=len(marks) - len(faults))
