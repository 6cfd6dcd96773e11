"""Upkeep: looks for leads that no event brought, reloads the configuration, forgets old jobs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from lead_router.core.keys import CHANGED, submission_of, sweep_key
from lead_router.core.model import Configuration, Lead
from lead_router.core.soql.values import instant
from lead_router.core.touch import last_told_at, mended_since, touched_since
from lead_router.errors import OUTAGES, LoginRefused, Permanent, RateLimited
from lead_router.loops.asks import UNASSIGNED_UNDER
from lead_router.loops.breaker import Breaker
from lead_router.loops.current import Current
from lead_router.loops.remarking import Unshown
from lead_router.loops.whys import kind_of
from lead_router.ports import SET_BACK, JobStore, NewJob, Org, Wanted
from lead_router.ports.meter import NO_METER, SWEEP_FINDS, SWEPT, Meter

_log = structlog.get_logger(__name__)

MOMENTS_MAX = 20_000  # of leads that no event brought, the latest: a sweep holds these and a page, however many wait
PAGE = 2_000  # leads per call; as many as Salesforce puts on a query's first page
RELOAD_PAUSE_S = 2.0  # from one reload to the next, however many changes are told of
BY_TIME = "time"
KEEP_EVERY_S = 20.0
UNANSWERED = "the database did not answer"
LOOKS_PER_LOAD = 4  # every fourth timed look loads all, the others are glances
FORGET_MAX = 1_000  # rows per transaction: those who wait to write wait no longer than for any other
UNREADABLE_MAX = 1_000  # unreadable events that are kept, each with its bytes: enough to see what they are
_REMEDY = (
    "it is subscribed anew by itself; if it stays silent, let `lead-router doctor` say whether the org publishes "
    "changes of leads and the integration user may still read them; until then each sweep finds what comes"
)
_CLOCK_REMEDY = "let a time service keep the clock of the job database's host"
FORGET_EVERY_S = 3_600.0
IN_FLIGHT = timedelta(minutes=1)  # a lead that came so lately may be told of yet


@dataclass(frozen=True, slots=True)
class _Made:
    """New jobs; when those leads came or changed that had none; and of how many no event came in good time."""

    jobs: int = 0
    moments: Sequence[datetime] = ()
    missed: int = 0


class Upkeep:
    """One step does what is due: at most one reload, one sweep, one clean-up. Times in seconds of `monotonic`."""

    def __init__(
        self,
        org: Org,
        store: JobStore,
        current: Current,
        *,
        org_id: str,
        now: Callable[[], datetime],
        monotonic: Callable[[], float],
        configuration_every_s: float,
        sweep_every_s: float,
        keep_done_s: float,
        wake: Callable[[], None],
        silent_after_s: float | None = None,
        breaker: Breaker | None = None,
        wanted: Callable[[], Wanted | None] = lambda: None,
        meter: Meter = NO_METER,
    ) -> None:
        self._org = org
        self._store = store
        self._current = current
        self._org_id = org_id
        self._now = now
        self._monotonic = monotonic
        self._configuration_every_s = configuration_every_s
        self._sweep_every_s = sweep_every_s
        self._keep_done_s = keep_done_s
        self._wake = wake
        self._wanted = wanted
        self._meter = meter
        self._silent_after_s = silent_after_s
        self._breaker = Breaker(monotonic) if breaker is None else breaker
        self._reload_at = monotonic() + configuration_every_s
        self._reloaded_at = monotonic() - RELOAD_PAUSE_S
        self._forget_at = monotonic()  # at once: one that is started anew every hour would never forget
        self._unshown = Unshown(org, store)
        self._fault, self._ask_anew, self._looks = "", False, 0
        self._kept_at = monotonic()
        self._locked_out = False
        self._unmade: str | None = None  # a sweep that is owed, and that the database was not yet asked for again

    def step(self) -> bool:
        """Do what is due; True if something was. Raises Transient when the org or the store did not answer,
        LoginRefused while the org refuses the login.

        Each part is tried, whatever befell the one before; what failed is due again at the next step, so that a fault
        does not hide behind steps that do nothing. While the breaker is open the org is asked for nothing, but for the
        configuration where that may have opened it: another one closes it. A login that is refused opens it, too; the
        first answer after that closes it. Then routing goes on at once.
        """
        busy, faults = False, list[Exception]()
        for part in (self._reload, self._sweep, self._forget):
            asks_org = part != self._forget
            if asks_org and (self._breaker.spared_s() if part == self._reload else self._breaker.open_s()) > 0:
                continue
            try:
                did = part()
            except RateLimited as fault:
                # An allowance is the org's: who asks every few seconds whether it is back takes it from the leads.
                self._breaker.trip(fault.retry_after, why=f"{type(fault).__name__}: {fault}")
                faults.append(fault)
            except LoginRefused as fault:
                # The answer is the same until a person acts, and logins are counted, too.
                self._breaker.trip(why=f"{type(fault).__name__}: {fault}")
                self._locked_out = True
                faults.append(fault)
            except Exception as fault:  # noqa: BLE001 - raised below
                faults.append(fault)
            else:
                busy = busy or did
                if asks_org and did and self._locked_out:
                    self._locked_out = False
                    self._breaker.close()
        if faults:
            raise next((fault for fault in faults if not isinstance(fault, OUTAGES)), faults[0])
        return busy

    def _reload(self) -> bool:
        reason = self._current.outdated()
        due = self._reload_at if reason is None else min(self._reload_at, self._reloaded_at + RELOAD_PAUSE_S)
        if self._monotonic() < due:
            return False
        self._reloaded_at = self._monotonic()
        self._reload_at = self._reloaded_at + self._configuration_every_s
        self._current.reading()
        try:
            self._put_in_force(self._look(load=reason is not None or bool(self._fault)), reason or BY_TIME)
        except LoginRefused:
            self._read_again(reason)
            raise
        except Permanent as fault:
            # The last good configuration stays in force: a slip in one record must not stop all routing.
            if str(fault) != self._fault:
                _log.error("configuration_refused", error=str(fault), in_force="the former one")
            self._fault = str(fault)
        except Exception:
            self._read_again(reason)
            raise
        return True

    def _read_again(self, reason: str | None) -> None:
        """The configuration could not be read: it is due again at the next step."""
        self._current.outdate(reason or BY_TIME)
        self._reloaded_at = self._monotonic() - RELOAD_PAUSE_S

    def _look(self, *, load: bool) -> Configuration:
        # What a load refused is not accepted by a glance, which may not see the record at fault.
        self._looks = 0 if load else (self._looks + 1) % LOOKS_PER_LOAD
        return self._org.configuration() if self._looks == 0 else self._org.glance()

    def _put_in_force(self, configuration: Configuration, reason: str) -> None:
        if self._fault:
            _log.info("configuration_accepted")
        self._fault = ""
        if self._current.replace(configuration):
            told = {"rules": len(configuration.rules), "warnings": list(configuration.warnings)}
            _log.info("configuration_changed", told_by=reason, **told)
            self._breaker.cured()
            self._ask_anew = True
        if self._ask_anew:
            self._store.request_sweep("configuration changed")
            self._store.ask_held()
            self._ask_anew = False
            self._wake()

    def _sweep(self) -> bool:
        if self._unmade is not None:
            self._store.request_sweep(self._unmade)
        self._unmade = UNANSWERED  # a wish may be taken, and the answer lost
        self._unmade = reason = self._store.take_sweep(every_s=self._sweep_every_s)
        if reason is None:
            return False
        seen = found = missed = 0
        self._kept_at = self._monotonic()
        moments: list[datetime] = []
        self._unshown.begin()
        try:
            for page in self._org.unassigned(self._current.get(), PAGE):
                self._keep(reason)
                seen += len(page)
                made = self._record(page, unassigned=True)
                found += made.jobs
                missed += made.missed
                moments = sorted([*moments, *made.moments])[-MOMENTS_MAX:]
            for page in self._org.queued(self._current.get(), PAGE):
                self._keep(reason)
                found += self._record(page, unassigned=False).jobs
            self._store.end_sweep(reason)
        except Exception:
            self._store.request_sweep(reason)
            self._unmade = None
            raise
        finally:
            self._meter.count(SWEEP_FINDS, kind_of(reason), by=missed)
        self._unmade = None
        self._meter.count(SWEPT, kind_of(reason))
        _log.info("leads_swept", reason=reason, unassigned=seen, jobs=found)
        if reason.startswith(SET_BACK):
            _log.warning("clock_set_back", text=reason, remedy=_CLOCK_REMEDY)
        self._listen_for_silence(moments)
        self._unshown.show()
        return True

    def _keep(self, reason: str) -> None:
        """A sweep of many pages takes minutes: others are told that it goes on."""
        if self._monotonic() - self._kept_at >= KEEP_EVERY_S:
            self._store.keep_sweep(reason)
            self._kept_at = self._monotonic()

    def _listen_for_silence(self, moments: Sequence[datetime]) -> None:
        """Leads that no event brought, though the stream was subscribed: is it one that brings nothing?"""
        if self._silent_after_s is None or not moments:
            return
        silence = self._store.find_silence(moments, after_s=self._silent_after_s)
        if silence is not None and silence.begun:
            since = silence.since.isoformat()
            _log.warning("stream_silent", channel=silence.channel, leads=silence.leads, since=since, remedy=_REMEDY)

    def _record(self, page: Sequence[Lead], *, unassigned: bool) -> _Made:
        configuration = self._current.get()
        known, mended = self._known(page, configuration, unassigned=unassigned)
        jobs, moments, missed = list[NewJob](), list[datetime](), 0
        user, lately = configuration.integration_user_id, self._now() - IN_FLIGHT
        for lead in page:
            if lead.id in known:
                continue
            moments.append(last_told_at(lead.fields, lead.created_at, by_others_than=user))
            missed += lead.id not in mended and moments[-1] < lately
            since = instant(lead.fields.get(CHANGED)) if lead.round or not unassigned else None  # it was returned then
            payload: dict[str, object] = {"change_type": "SWEEP", "event_at": (since or lead.created_at).isoformat()}
            if unassigned:
                payload[UNASSIGNED_UNDER] = lead.owner_id
            key = sweep_key(self._org_id, lead.id, lead.round + 1, lead.fields)
            jobs.append(NewJob(key, lead.id, lead.id, payload, submission_of(lead.fields, configuration)))
        created = self._store.record(jobs, wanted=self._wanted()).created if jobs else 0
        if created < len(jobs):
            created += self._store.reopen([job.idempotency_key for job in jobs])
        if created:
            self._wake()
        return _Made(created, moments, min(missed, created)) if created else _Made()

    def _known(
        self, page: Sequence[Lead], configuration: Configuration, *, unassigned: bool
    ) -> tuple[frozenset[str], set[str]]:
        """Leads that have a job already; a dead or discarded one only as long as nobody has touched its lead since.

        The second are those whose leads somebody has. A discard stands, though a later job ended: such a job has routed
        the lead, or found that somebody took it, and without a person's change it would not be unassigned again.
        """
        ids = [lead.id for lead in page]
        unfinished = self._store.open_leads(ids)
        discarded = {lead: at for lead, at in self._store.discards(ids).items() if lead not in unfinished}
        deaths = self._store.deaths(sorted(unfinished))
        user = configuration.integration_user_id
        mended = {
            lead.id
            for lead in page
            if ((at := deaths.get(lead.id)) and mended_since(lead.fields, at, failed=lead.failed, by_others_than=user))
            or ((at := discarded.get(lead.id)) and touched_since(lead.fields, at, by_others_than=user))
        }
        if unassigned:
            self._unshown.note(one for one in page if one.id in deaths and not one.failed and one.id not in mended)
        return (unfinished | discarded.keys()) - mended, mended

    def _forget(self) -> bool:
        if self._monotonic() < self._forget_at:
            return False
        store, older_s = self._store, self._keep_done_s
        jobs = store.forget(older_than_s=older_s, limit=FORGET_MAX)
        observations = store.forget_observations(older_than_s=older_s, limit=FORGET_MAX)
        unreadable = store.forget_unreadable(older_than_s=older_s, keep=UNREADABLE_MAX, limit=FORGET_MAX)
        answers = store.forget_enrichments(older_than_s=older_s, limit=FORGET_MAX)
        notices = store.forget_notices(older_than_s=older_s, limit=FORGET_MAX)
        found = {"observations": observations, "unreadable": unreadable, "enrichments": answers, "notices": notices}
        more = FORGET_MAX in {jobs, *found.values()}
        self._forget_at = self._monotonic() + (0.0 if more else FORGET_EVERY_S)
        forgotten = jobs or any(found.values())
        if forgotten:
            _log.info("jobs_forgotten", count=jobs, **found)
        return bool(forgotten)

    def close(self) -> None:
        """Free the store."""
        self._store.close()
