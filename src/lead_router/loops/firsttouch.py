"""First touch: owners that let their leads lie are reminded, and then the leads are asked about as any other.

It decides nothing: whether a lead is taken from its owner, and who gets it, the worker says, on what it reads then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

import structlog

from lead_router.core import wording
from lead_router.core.decide import decide
from lead_router.core.keys import untouched_key
from lead_router.core.model import Ask, Cause, Configuration, Group, Lead, Snapshot, Switch
from lead_router.core.terms import Running, ripe, running, watched
from lead_router.errors import LeadRouterError, RateLimited
from lead_router.loops.breaker import Breaker
from lead_router.loops.current import Current
from lead_router.loops.reading import with_hands
from lead_router.ports import JobStore, NewJob, Org, Touched, TouchMark
from lead_router.ports.notices import NewNotice, NoticeKind

_log = structlog.get_logger(__name__)

PAGE: Final = 2_000  # leads per call
LOOK_MAX: Final = 200  # leads of one snapshot
KEPT: Final = timedelta(days=14)
"""How far back it looks: a lead that was given out longer ago is left to its owner."""

LAPSES_S: Final = 3 * 86_400.0
"""A clock that stood still for so long, as long as events are kept for, begins anew: what was given out before is left
to its owners.
"""

STOPPED_FOR: Final = timedelta(minutes=15)  # until a lead of which no clock runs is looked at again
FORGET_AFTER_S: Final = 90 * 86_400.0
FORGET_MAX: Final = 1_000
FORGET_EVERY_S: Final = 3_600.0
_NEVER: Final = datetime.max.replace(tzinfo=UTC)


class FirstTouch:
    """One look per step, at most every `every_s` seconds; no fault of it ends the loop or keeps the others from theirs.

    What was done about a lead is known by the job store; what is kept here only saves looking at it again.
    """

    def __init__(
        self,
        org: Org,
        store: JobStore,
        current: Current,
        *,
        org_id: str,
        now: Callable[[], datetime],
        monotonic: Callable[[], float],
        every_s: float,
        wake: Callable[[], None],
        routing: Breaker | None = None,
    ) -> None:
        self._org = org
        self._store = store
        self._current = current
        self._org_id = org_id
        self._now = now
        self._monotonic = monotonic
        self._every_s = every_s
        self._wake = wake
        self._routing = Breaker(monotonic) if routing is None else routing
        self._breaker = Breaker(monotonic)
        self._look_at = monotonic()
        self._forget_at = monotonic()
        self._next: dict[tuple[str, int], datetime] = {}
        self._blind = False
        self._terms: tuple[object, object] = ((), {})

    def step(self) -> bool:
        """Look, where it is time to; True if something was to do. Asks nothing of an org that routing spares."""
        if self._monotonic() < self._look_at:
            return False
        self._look_at = self._monotonic() + self._every_s
        if self._routing.open_s() > 0 or self._breaker.open_s() > 0:
            return False
        try:
            busy = self._look()
            self._forget()
        except LeadRouterError as fault:
            after_s = fault.retry_after if isinstance(fault, RateLimited) else 0.0
            delay = self._breaker.trip(after_s, why=f"{type(fault).__name__}: {fault}")
            _log.warning("first_touch_failed", error=str(fault), kind=type(fault).__name__, delay_s=delay)
            return False
        except Exception as fault:  # noqa: BLE001 - an optional part must not end the router
            delay = self._breaker.trip(why=type(fault).__name__)
            _log.exception("first_touch_failed", kind=type(fault).__name__, delay_s=delay)
            return False
        self._breaker.close()
        return busy

    def _look(self) -> bool:
        configuration = self._current.get()
        groups = watched(configuration)
        if not groups:
            return False
        position = configuration.rollout.first_touch.value
        ids = [group.id for group in groups.values()]
        self._look_anew(tuple((one.key, one.accept_within, one.hours_id) for one in groups.values()), configuration)
        began = self._store.clocks(ids, position=position, lapses_s=LAPSES_S)
        at = self._now()
        busy, seen = False, set[tuple[str, int]]()
        for page in self._org.untouched(configuration, sorted(groups), max(min(began.values()), at - KEPT), PAGE):
            seen |= {(lead.id, lead.round) for lead in page}
            late = self._unmarked(self._late(configuration, groups, began, page, at))
            for place in range(0, len(late), LOOK_MAX):
                busy = self._judge(configuration, late[place : place + LOOK_MAX]) or busy
        self._next = {key: again for key, again in self._next.items() if key in seen}
        return busy

    def _look_anew(self, terms: object, configuration: Configuration) -> None:
        """Forget when to look at leads again, where their terms or hours are others than they were."""
        if self._terms != (terms, configuration.hours):
            self._terms, self._next = (terms, configuration.hours), {}

    def _late(
        self,
        configuration: Configuration,
        groups: Mapping[str, Group],
        began: Mapping[str, datetime],
        page: Sequence[Lead],
        at: datetime,
    ) -> list[Lead]:
        """Those of which something may be to do, as far as is known without a look at them."""
        return [
            lead
            for lead in ripe(configuration, groups.values(), page, at)
            if lead.routed_at is not None
            and lead.routed_at >= began[groups[lead.routed_by or ""].id]
            and self._next.get((lead.id, lead.round), at) <= at
        ]

    def _unmarked(self, late: Sequence[Lead]) -> list[Lead]:
        """Those whose owners are not known to have changed them: a later write may hide it."""
        touched = self._store.touched([lead.id for lead in late])
        self._next |= dict.fromkeys(touched, _NEVER)
        return [lead for lead in late if (lead.id, lead.round) not in touched]

    def _judge(self, configuration: Configuration, leads: Sequence[Lead]) -> bool:
        found_now = self._org.snapshot(configuration, [lead.id for lead in leads], ())
        snapshot = with_hands(self._store, configuration, found_now)
        self._tell_blindness(snapshot)
        late: list[tuple[Lead, Running]] = []
        early: list[tuple[Lead, Running]] = []
        for lead in (snapshot.leads[one.id] for one in leads if one.id in snapshot.leads):
            found = running(configuration, snapshot, lead)
            if not isinstance(found, Running):
                self._next[lead.id, lead.round] = snapshot.taken_at + STOPPED_FOR
            elif found.opens_at is not None:
                self._next[lead.id, lead.round] = found.opens_at
            elif found.term.due_at <= snapshot.taken_at:
                late.append((lead, found))
            elif found.term.remind_at is not None and found.term.remind_at <= snapshot.taken_at:
                early.append((lead, found))
        if configuration.rollout.first_touch is Switch.LIVE:
            self._remind(early)
            self._ask(late)
        else:
            self._observe(configuration, snapshot, early, late)
        self._next |= {(lead.id, lead.round): found.term.due_at for lead, found in early}
        self._next |= {(lead.id, lead.round): _NEVER for lead, _ in late}
        return bool(early or late)

    def _remind(self, early: Sequence[tuple[Lead, Running]]) -> None:
        """First handed in to be told, which is done once by its key: a crash between the two tells nobody twice."""
        if early and self._store.notifies:
            self._store.notify([self._reminder(lead, found) for lead, found in early])
        for one in self._store.mark_touches([_mark(lead, found, Touched.REMINDED) for lead, found in early]):
            _log.info("rep_reminded", lead=one.lead_id, owner=one.owner_id, round=one.round, due_at=_told(one.due_at))

    def _reminder(self, lead: Lead, found: Running) -> NewNotice:
        owner = found.row.assigned_to
        minutes = f"{found.term.minutes} minute{'s' * (found.term.minutes != 1)}"
        return NewNotice(
            key=f"{untouched_key(self._org_id, lead.id, found.row.round)}.reminder",
            kind=NoticeKind.REMINDER,
            lead_id=lead.id,
            user_id=owner,
            round=found.row.round,
            reason=f"To be touched by {found.term.due_at:%Y-%m-%d %H:%M} UTC, {minutes} after it was given out.",
            name=next((one.name for one in found.group.members if one.user_id == owner), ""),
            group=found.group.key,
        )

    def _ask(self, late: Sequence[tuple[Lead, Running]]) -> None:
        jobs = [self._job(lead, found) for lead, found in late]
        created = self._store.record(jobs).created if jobs else 0
        if created:
            _log.info("leads_untouched", leads=len(jobs), jobs=created)
            self._wake()

    def _job(self, lead: Lead, found: Running) -> NewJob:
        key = untouched_key(self._org_id, lead.id, found.row.round)
        told = {"change_type": "UNTOUCHED", "event_at": found.term.due_at.isoformat(), "cause": Cause.UNTOUCHED.value}
        return NewJob(key, lead.id, lead.id, told)

    def _observe(
        self,
        configuration: Configuration,
        snapshot: Snapshot,
        early: Iterable[tuple[Lead, Running]],
        late: Iterable[tuple[Lead, Running]],
    ) -> None:
        """Nothing is done, and once told what would be."""
        live = replace(configuration, rollout=replace(configuration.rollout, first_touch=Switch.LIVE))
        for one in self._store.mark_touches([_mark(lead, found, Touched.WOULD_REMIND) for lead, found in early]):
            _log.info("touch_observed", lead=one.lead_id, round=one.round, would="Live, its owner is reminded.")
        marks = [_mark(lead, found, Touched.WOULD_REROUTE) for lead, found in late]
        for one in self._store.mark_touches(marks):
            key = untouched_key(self._org_id, one.lead_id, one.round)
            ask = Ask(0, key, one.lead_id, one.due_at, cause=Cause.UNTOUCHED)
            (would,) = decide(live, snapshot, [ask])
            _log.info("touch_observed", lead=one.lead_id, round=one.round, would=wording.would(would))

    def _tell_blindness(self, snapshot: Snapshot) -> None:
        if snapshot.blind and not self._blind:
            remedy = "assign the permission set Lead_Router_Activities to the integration user"
            _log.error("first_touch_blind", error="tasks and events may not be read: no clock runs", remedy=remedy)
        self._blind = snapshot.blind

    def _forget(self) -> None:
        if self._monotonic() >= self._forget_at:
            self._store.forget_touches(older_than_s=FORGET_AFTER_S, limit=FORGET_MAX)
            self._forget_at = self._monotonic() + FORGET_EVERY_S

    def close(self) -> None:
        """Free the store."""
        self._store.close()


def _mark(lead: Lead, found: Running, mark: Touched) -> TouchMark:
    return TouchMark(lead.id, found.row.round, mark, found.group.id, found.row.assigned_to, found.term.due_at)


def _told(at: datetime) -> str:
    return at.isoformat(timespec="seconds")
