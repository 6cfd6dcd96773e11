"""Verifying: on a slow timetable, a look at all rotations in one call; drift is told once, with first turn and cause.

A look reads groups, members and numbers of rows at one moment, and judges them beside the look before, by which a field
that somebody wrote is seen to the last digit. Only where that finds something are the group's rows read, to tell the
turn. Jobs that were done since, and leads whose rows were made since, are held against the ledger in a bounded number
of calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import TypeAlias

import structlog

from lead_router.core.drift import Drift, Drifted
from lead_router.core.model import Group
from lead_router.errors import Ending, LeadRouterError, RateLimited
from lead_router.loops.breaker import Breaker
from lead_router.loops.verification import JOBS_PAGE, Jobs, Leads, confirmed, steady, suspected
from lead_router.ports import JobStore
from lead_router.ports.books import Books
from lead_router.ports.meter import DRIFTED, NO_METER, Meter

_log = structlog.get_logger(__name__)

FIRST_S = 60.0  # after the start: the sweep, and what waited, come first
LOOKS = 3  # each counts all rows; a group that moved at all of them is judged an hour later
PAGES_MAX = 10  # of jobs, and of new rows, at one look
OVERLAP = timedelta(minutes=10)  # clocks of hosts, databases and Salesforce may differ by that much
_REMEDY = "`lead-router verify` shows all of it, with --repair what the ledger proves; the runbook has each cause"

_OF_LEADS = frozenset({Drift.ROUND, Drift.STAMP, Drift.SHOWN_GROUP})

_Told: TypeAlias = tuple[str, str, str, int | None]


class Verifying:
    """One look when one is due; `every_s` in seconds of `monotonic`. After a fault, sooner, with growing pauses."""

    def __init__(
        self,
        books: Books,
        store: JobStore,
        *,
        now: Callable[[], datetime],
        monotonic: Callable[[], float],
        every_s: float,
        breaker: Breaker,
        since: datetime | None = None,
        meter: Meter = NO_METER,
    ) -> None:
        self._books = books
        self._store = store
        self._now = now
        self._monotonic = monotonic
        self._every_s = every_s
        self._breaker = breaker
        self._since = since
        self._meter = meter
        self._pause_s = min(FIRST_S, every_s)
        self._due_at = monotonic() + self._pause_s
        self._former: dict[str, Group] = {}
        self._told: set[_Told] = set()
        self._drifted: set[str] = set()
        self._fault = ""
        self._done_at, self._done_id = now(), 0
        self._rows_at = now()

    def step(self) -> bool:
        """Look if that is due and Salesforce is in reach; True if it was. No fault of it reaches the program."""
        if self._monotonic() < self._due_at or self._breaker.open_s() > 0:
            return False
        self._due_at = self._monotonic() + self._pause_s
        self._pause_s = min(2 * self._pause_s, self._every_s)
        try:
            for part in (self._rotations, self._jobs, self._leads):
                self._tell(part())
        except Ending:
            return False
        except LeadRouterError as fault:
            if isinstance(fault, RateLimited):
                self._breaker.trip(fault.retry_after, why=f"{type(fault).__name__}: {fault}")
            self._failed(f"{type(fault).__name__}: {fault}")
            return False
        except Exception as fault:  # noqa: BLE001 - leads are routed all the same
            self._failed(f"{type(fault).__name__}, a fault of the router itself", exc_info=True)
            return False
        self._due_at = self._monotonic() + self._every_s
        self._pause_s = min(FIRST_S, self._every_s)
        self._fault = ""
        return True

    def _failed(self, text: str, **more: bool) -> None:
        if text != self._fault:
            _log.warning("rotations_not_verified", error=text, **more)
        self._fault = text

    def _rotations(self) -> list[Drifted]:
        look = steady(self._books, sums=True, looks=LOOKS)
        if look.sums is None:
            _log.info("rotations_not_summed", groups=len(look.keys), text="too many members for one look")
            return []
        found: list[Drifted] = []
        self._drifted &= set(look.keys.values())
        for group in look.groups.values():
            former = self._former.get(group.id)
            if suspected(group, look.sums, former, self._since).findings:
                drift = confirmed(self._books, group, former, self._since).findings
                found += drift
                if drift:
                    self._drifted.add(group.key)
                    continue  # the look before stays what the next one is held against
            self._former[group.id] = group
            self._drifted.discard(group.key)
            self._put_right(group.key)
        self._meter.set(DRIFTED, len(self._drifted))
        return found

    def _jobs(self) -> list[Drifted]:
        jobs = Jobs(self._books, self._store, self._now, self._since)
        for _ in range(PAGES_MAX):
            page = self._store.done_after(self._done_at, self._done_id, limit=JOBS_PAGE)
            jobs.judge(page)
            if page and page[-1].completed_at is not None:
                self._done_at, self._done_id = page[-1].completed_at, page[-1].id
            if len(page) < JOBS_PAGE:
                break
        return jobs.findings

    def _leads(self) -> list[Drifted]:
        leads, since = Leads(self._books), self._rows_at - OVERLAP
        self._rows_at = self._now()
        for page in islice(self._books.rows(since=since), PAGES_MAX):
            leads.judge(page)
        return leads.ended()

    def _tell(self, found: Sequence[Drifted]) -> None:
        seen: Mapping[_Told, Drifted] = {(one.kind, one.group, one.record, one.epoch): one for one in found}
        for key, one in seen.items():
            if key not in self._told:
                told = {"group": one.group, "epoch": one.epoch, "turn": one.turn, "record": one.record}
                _log.warning("rotation_drifted", kind=one.kind, **told, text=one.text, cause=one.cause, remedy=_REMEDY)
        self._told |= seen.keys()

    def _put_right(self, group: str) -> None:
        """What was told of the group is not so any more; should it come again, it is told again."""
        ended = {key for key in self._told if key[1] == group and key[0] not in _OF_LEADS}
        if ended:
            _log.info("rotation_put_right", group=group)
        self._told -= ended

    def close(self) -> None:
        """Free the store."""
        self._store.close()
