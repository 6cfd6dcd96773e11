"""Routing: the claimed jobs of one step, from snapshot to receipt, and again for what was refused."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

import structlog

from lead_router.core.model import Batch, Configuration, Decision, Hold, Observed, Skip, Snapshot, Status, Write
from lead_router.core.reopening import keeps_its_mark
from lead_router.errors import LeadRouterError, Rejected, RowLocked
from lead_router.loops import marking, news
from lead_router.loops.asks import ask_of, held
from lead_router.loops.clearing import OWNED, clear, idle
from lead_router.loops.locked import Locked
from lead_router.loops.observing import decided, observed
from lead_router.loops.overriding import overridden, show, tell_returned
from lead_router.loops.portions import Portion, commits, counted, halves, stuck, without
from lead_router.loops.reading import read, with_kept
from lead_router.loops.receipts import Resolution, failed, resolve, unforeseen
from lead_router.loops.sending import JITTER_S, sent
from lead_router.loops.taking import taken
from lead_router.loops.telling import Teller
from lead_router.ports import Bury, Committed, Done, Ending, Job, JobStore, Mark, Org, Refusal, Refused, Release

_log = structlog.get_logger(__name__)

PASSES_MAX = 5
STUCK_RETRY_S = 60.0
FRESH_S = 5.0  # of a lease, which is set to last 10 s longer than the longest call
MARK_PASSES = 2  # a lead that is changed again and again keeps what it shows
LOCKED_LATELY = "locked when it was last tried; another lead of the claim still is"
RETURNED = "a lead was given back before its job ended"
CLEAR_AGAIN = Release(STUCK_RETRY_S, "it shows Queued for nothing, and refuses to be written")


class Routing:
    """One claim's work. Jobs that `open` still holds at the end were not ended: their claims must be released.

    `broken` are those of them that met code which was not written for them, with its fault.
    """

    def __init__(
        self,
        org: Org,
        store: JobStore,
        configuration: Configuration,
        *,
        now: Callable[[], datetime],
        monotonic: Callable[[], float],
        claimed_at: float,
        pause: Callable[[float], None],
        dice: random.Random,
        lease_s: float,
        wait_s: Callable[[Job], float],
        unfit: set[str],
        locked: Locked,
        reroutes_max: int,
        teller: Teller,
    ) -> None:
        self._org = org
        self._store = store
        self._configuration = configuration
        self._now = now
        self._monotonic = monotonic
        self._kept_at = claimed_at
        self._pause = pause
        self._dice = dice
        self._lease_s = lease_s
        self._wait_s = wait_s
        self._unfit = unfit
        self._locked = locked
        self._locked_out = False
        self._reroutes_max = reroutes_max
        self._teller = teller
        self._overridden: frozenset[str] = frozenset()
        self._uncleared: frozenset[str] = frozenset()
        self._sight = marking.Sight()
        self.open: dict[str, Job] = {}
        self.broken: list[tuple[Job, Exception]] = []
        self.put_back: dict[str, str] = {}

    def route(self, jobs: Sequence[Job]) -> None:
        """Route the jobs, oldest first; raises what keeps the service from working, with the rest in `open`."""
        self.open = {job.lead_id: job for job in jobs}
        portions = self._locked.begun(jobs)
        while portions:
            portion = portions.pop(0)
            try:
                portions[:0] = self._pass(portion)
                portions.sort(key=lambda one: one.last)
            except LeadRouterError:
                raise
            except Exception as fault:  # noqa: BLE001 - whatever it is, it is found by halves and ends alone
                _log.exception("portion_failed", leads=len(portion.jobs))
                left = tuple(job for job in portion.jobs if job.lead_id in self.open)  # others ended before it came
                if len(portion.jobs) > 1:
                    portions[:0] = halves(replace(portion, jobs=left))
                else:
                    self.broken += [(job, fault) for job in left]

    def _pass(self, portion: Portion) -> list[Portion]:
        if portion.last and self._locked_out:  # each try may take ten seconds, in which new leads wait
            return self._put_back(portion, LOCKED_LATELY)
        found = read(self._org, self._store, self._configuration, portion.jobs)
        found = with_kept(self._store, self._configuration, found)
        self._sight.note(found)
        snapshot = without(found, frozenset(self._unfit))
        asks = [ask_of(job) for job in portion.jobs]
        decisions = decided(self._store, self._configuration, snapshot, asks, reroutes_max=self._reroutes_max)
        uncleared = clear(self._org, idle(snapshot, decisions, taken(snapshot, portion.jobs)))
        facts = overridden(self._configuration, snapshot, portion.jobs)
        moved = uncleared.moved | show(self._org, facts)
        looks_again = portion.passes < MARK_PASSES
        if moved and looks_again:
            return [replace(portion, passes=portion.passes + 1)]  # who changed one may have given it back
        tell_returned(self._configuration, snapshot, portion.jobs)
        self._overridden = frozenset(fact.lead.id for fact in facts)
        self._uncleared = uncleared.refused
        unheld = self._settle(snapshot, decisions, looks_again=looks_again)
        again = [replace(portion, jobs=unheld, passes=portion.passes + 1)] if unheld else []
        for several in commits(portion, decisions):
            again += self._write(several, portion)
        return again

    def _settle(self, snapshot: Snapshot, decisions: Iterable[Decision], *, looks_again: bool) -> tuple[Job, ...]:
        """End jobs that write no turn, but those, answered, whose leads were changed before they could be held."""
        endings: list[tuple[Job, Ending]] = []
        marks: list[Mark] = []
        older: set[str] = set()
        made = [one for one in decisions if isinstance(one, (Hold, Observed, Skip))]
        skipped = [one.ask.idempotency_key for one in made if isinstance(one, Skip) and one.reason == OWNED]
        seen = self._store.observed(skipped)
        for decision in made:
            job = self.open[decision.ask.lead_id]
            match decision:
                case Skip(reason=reason, queued=queued):
                    known = job.idempotency_key in seen
                    word = "observed" if known else f"skipped: {reason}"
                    told = news.of_routed(self._configuration, snapshot, job) if reason == news.ROUTED else ()
                    done = Done("overridden" if job.lead_id in self._overridden else word, told)
                    endings.append((job, CLEAR_AGAIN if queued and job.lead_id in self._uncleared else done))
                    self._teller.skipped(job, reason, observed=known)
                case Observed():
                    endings.append((job, observed(decision, self._configuration)))
                case Hold(reason=reason, lead=lead, group_id=group):
                    endings.append((job, held(decision, self._configuration, self._now())))
                    if not decision.shown:
                        if decision.ask.waited_s < decision.retry_s:  # told once, not at each look that a clock brings
                            _log.info("lead_left", lead=job.lead_id, reason=reason, job=job.id)
                    elif lead is not None and not lead.shows(reason):
                        marks.append(Mark(lead, Status.HELD, reason))
                        self._teller.held(job, reason, self._configuration.group_keys.get(group or ""))
                    if decision.behind is not None:
                        older.add(decision.behind)
        moved = marking.mark(self._org, marks, self._still)
        unheld = tuple(self.open[lead_id] for lead_id in self.open if lead_id in moved and looks_again)
        # As long as the job of a returned lead was open, a sweep took it for one that is being routed.
        sweep = RETURNED if any(one.returned for one in made if isinstance(one, Skip)) else None
        self._end([(job, ending) for job, ending in endings if job.lead_id in self.open and job not in unheld], sweep)
        self._store.ask_leads(sorted(older))
        return unheld

    def _write(self, several: tuple[Batch, ...], portion: Portion) -> list[Portion]:
        jobs = tuple(self.open[write.ask.lead_id] for batch in several for write in batch.writes)
        kept = self._keep(jobs)
        if len(kept) < len(jobs):
            return [replace(portion, jobs=kept)] if kept else []
        try:
            receipt = sent(self._org, several, pause=self._pause, dice=self._dice)
        except RowLocked as fault:
            return self._row_locked(several, replace(portion, jobs=jobs), fault)
        except Rejected as fault:
            receipt = Refused((Refusal(None, str(fault)),))
        match receipt:
            case Committed():
                self._done(write for batch in several for write in batch.writes)
                return []
            case Refused() if len(several) > 1:
                return [replace(portion, jobs=jobs, apart=True)]
            case Refused(faults=faults):
                (batch,) = several
                resolution = resolve(jobs, faults, self._wait_s)
                return self._refused(counted(portion, batch, faults), jobs, resolution)

    def _keep(self, jobs: Sequence[Job]) -> tuple[Job, ...]:
        """Those whose claim still holds, and holds for a lease more; another may have routed the others by now.

        Those of later writes too: the claim as a whole may take longer than one lease, each call of it may not. A lease
        that has only begun outlasts the next call as it is.
        """
        began = self._monotonic()
        if began - self._kept_at < FRESH_S:
            return tuple(jobs)
        self._kept_at = began
        kept = self._store.renew(tuple(self.open.values()), lease_s=self._lease_s)
        for job in jobs:
            if job.id not in kept:
                self.open.pop(job.lead_id)
                _log.warning("claim_lost", lead=job.lead_id, job=job.id)
        return tuple(job for job in jobs if job.id in kept)

    def _still(self, marks: Sequence[Mark]) -> list[Mark]:
        """Those whose jobs were not lost to another; jobs that are ended are not."""
        jobs = [self.open[mark.lead.id] for mark in marks if mark.lead.id in self.open]
        lost = {job.lead_id for job in jobs} - {job.lead_id for job in self._keep(jobs)}
        return [mark for mark in marks if mark.lead.id not in lost]

    def _row_locked(self, several: tuple[Batch, ...], portion: Portion, fault: RowLocked) -> list[Portion]:
        """A locked lead is tried alone behind the others, then put back; where none is named, all comes again."""
        parted = self._locked.parted(portion, fault.lead_ids)
        if parted:
            return parted
        if len(portion.jobs) == 1 and fault.lead_ids:
            self._locked.tried(portion.jobs[0])
            self._locked_out = True
            return self._put_back(portion, str(fault))
        if len(several) > 1:
            return [replace(portion, apart=True)]
        return self._again(replace(portion, passes=portion.passes + 1), str(fault), halve=True)

    def _put_back(self, portion: Portion, text: str) -> list[Portion]:
        back = [(job, self._locked.put_back(job, text, self._wait_s)) for job in portion.jobs]
        for job, release in back:
            _log.warning("lead_locked", lead=job.lead_id, job=job.id, reason=text, delay_s=round(release.delay_s, 3))
        self.put_back |= {job.lead_id: text for job, _ in back}
        self._end(back)
        return []

    def _refused(self, portion: Portion, jobs: tuple[Job, ...], resolution: Resolution) -> list[Portion]:
        self._close(news.with_news(self._org, self._store, self._configuration, resolution.endings))
        ended = {job.id for job, _ in resolution.endings}
        open_jobs = tuple(job for job in jobs if job.id not in ended)
        why = resolution.stuck or stuck(portion)
        if why is not None:
            self._wait_for_a_person(open_jobs, why)
            return []
        newly_unfit = resolution.unfit - self._unfit
        self._unfit |= newly_unfit
        # At first all are read anew together, in their order; a lead that moves again is then decided apart.
        moved = resolution.moved if portion.passes else frozenset()
        apart = tuple(job for job in open_jobs if job.lead_id in moved)
        rest = tuple(job for job in open_jobs if job.lead_id not in moved)
        # An owner that was refused is left out the next time: that is progress, and no pass is counted.
        passes = portion.passes + (0 if newly_unfit else 1)
        again: list[Portion] = []
        for some, halve in ((rest, resolution.halve), (apart, portion.passes > 1)):
            if some:
                again += self._again(replace(portion, jobs=some, passes=passes), resolution.text, halve=halve)
        return again

    def _wait_for_a_person(self, jobs: tuple[Job, ...], text: str) -> None:
        """The leads of one group wait, shown as held; the other groups go on."""
        _log.error("group_stuck", leads=len(jobs), reason=text)
        ours = self._end([(job, Release(STUCK_RETRY_S, f"held: {text}", keeps_place=True)) for job in jobs])
        self.put_back |= dict.fromkeys((job.lead_id for job in jobs), text)
        known = (lead for lead_id, lead in sorted(self._sight.leads.items()) if lead_id in ours)
        marks = [Mark(one, Status.HELD, text) for one in known if not keeps_its_mark(self._configuration, one)]
        marking.mark(self._org, marks, self._still)

    def _again(self, portion: Portion, text: str, *, halve: bool) -> list[Portion]:
        if portion.passes >= PASSES_MAX and (len(portion.jobs) == 1 or not halve):
            delay = self._dice.uniform(*JITTER_S) * 2
            self._end([(job, Release(delay, text, keeps_place=True)) for job in portion.jobs])
            self.put_back |= {job.lead_id: text for job in portion.jobs}
            _log.warning("batch_released", leads=len(portion.jobs), reason=text, delay_s=round(delay, 3))
            return []
        if halve and len(portion.jobs) > 1:
            return halves(portion)
        return [portion]

    def _done(self, writes: Iterable[Write]) -> None:
        now = self._now()
        jobs, say = [(self.open[write.ask.lead_id], write) for write in writes], self._teller.written
        self._end([(job, say(self._configuration, job, write, now - write.ask.event_at)) for job, write in jobs])

    def _end(self, endings: Sequence[tuple[Job, Ending]], sweep: str | None = None) -> frozenset[str]:
        """End the jobs; the answer names the leads of those that were still ours."""
        kept = self._store.end(endings, sweep=sweep) if endings else frozenset()
        for job, _ in endings:
            self.open.pop(job.lead_id, None)
            if job.id not in kept:
                _log.warning("claim_lost", lead=job.lead_id, job=job.id)
        return frozenset(job.lead_id for job, _ in endings if job.id in kept)

    def fail(self, jobs: Iterable[Job], fault: Exception) -> None:
        """Jobs met code that was not written for them: their attempts count; when all are used they are dead."""
        text = unforeseen(fault)
        self._close([(job, failed(job, text, self._wait_s(job))) for job in jobs])

    def _close(self, endings: Sequence[tuple[Job, Ending]]) -> None:
        """End the jobs, and show on their leads which of them are dead."""
        for job, ending in endings:
            self._teller.ended(job, ending)
        ours = self._end(endings)
        dead = {job.lead_id: end.error for job, end in endings if isinstance(end, Bury) and job.lead_id in ours}
        marking.fail(self._org, self._configuration, self._sight, dead, self._still, now=self._now, pause=self._pause)
