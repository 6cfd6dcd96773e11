"""The worker: claims due jobs, routes them, and puts back what could not be routed now."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

import structlog

from lead_router.core.backoff import backoff_s
from lead_router.errors import ContractMismatch, Ending, LeadRouterError, RateLimited, StoreUnavailable, Transient
from lead_router.loops.breaker import Breaker
from lead_router.loops.capping import REROUTES_MAX
from lead_router.loops.current import Current
from lead_router.loops.locked import Locked
from lead_router.loops.routing import Routing
from lead_router.loops.telling import Teller
from lead_router.ports import Job, JobStore, Org, Release
from lead_router.ports.meter import NO_METER, Meter

_log = structlog.get_logger(__name__)

DAILY_LIMIT_S = 60.0
BURST_SPREAD = 1.5
UNFIT_FOR = timedelta(minutes=5)
SUSPECTS_MAX = 3  # leads in a row that meet a fault of the code: then it is the program's, not theirs
IN_VAIN_MAX = (
    3  # claims in a row that wrote nothing, for locked rows, others faster, stuck groups; fewer: a busy moment
)


class Worker:
    """One claim per step. Faults of the service itself release the claims without an attempt and open the breaker.

    So do faults of the code that lead after lead meets, and they end the step. A lead that meets one alone uses up its
    attempts by it.
    """

    def __init__(
        self,
        org: Org,
        store: JobStore,
        current: Current,
        breaker: Breaker,
        *,
        name: str,
        now: Callable[[], datetime],
        monotonic: Callable[[], float],
        pause: Callable[[float], None],
        dice: random.Random,
        batch_max: int,
        lease_s: float,
        backoff_first_s: float,
        backoff_cap_s: float,
        reroutes_max: int = REROUTES_MAX,
        meter: Meter = NO_METER,
    ) -> None:
        self._org = org
        self._store = store
        self._current = current
        self._breaker = breaker
        self._name = name
        self._now = now
        self._monotonic = monotonic
        self._pause = pause
        self._dice = dice
        self._batch_max = batch_max
        self._lease_s = lease_s
        self._backoff_first_s = backoff_first_s
        self._backoff_cap_s = backoff_cap_s
        self._reroutes_max = reroutes_max
        self._meter = meter
        self._unfit: set[str] = set()
        self._unfit_since = now()
        self._locked = Locked(now)
        self._owed: list[tuple[Job, Release]] = []
        self._suspects: set[str] = set()
        self._in_vain = 0

    def step(self) -> bool:
        """Claim and route at most `batch_max` jobs; False when none is due or the breaker is open.

        Raises StoreUnavailable; the claims that are then held are given back as soon as the store answers again.
        """
        self._give_back()
        if not self._breaker.admits():
            return False
        began = self._monotonic()
        try:
            jobs = self._store.claim(self._name, limit=self._batch_max, lease_s=self._lease_s)
            return bool(jobs) and self._route(jobs, began)
        finally:
            self._breaker.pass_on()

    def _route(self, jobs: Sequence[Job], claimed_at: float) -> bool:
        routing = Routing(
            self._org,
            self._store,
            self._current.get(),
            now=self._now,
            monotonic=self._monotonic,
            claimed_at=claimed_at,
            pause=self._pause,
            dice=self._dice,
            lease_s=self._lease_s,
            wait_s=self._wait_s,
            unfit=self._unfit_now(),
            locked=self._locked,
            reroutes_max=self._reroutes_max,
            teller=Teller(self._meter, lambda: self._monotonic() - claimed_at),
        )
        try:
            return self._routed(routing, jobs)
        except StoreUnavailable as fault:
            text = f"{type(fault).__name__}: {fault}"
            self._owed = [(job, Release(0.0, text, keeps_place=True)) for job in routing.open.values()]
            raise

    def _routed(self, routing: Routing, jobs: Sequence[Job]) -> bool:
        try:
            routing.route(jobs)
        except StoreUnavailable:
            raise
        except LeadRouterError as fault:
            self._stand_back(routing, fault)
            return False
        self._judge(routing, jobs)
        return True

    def _judge(self, routing: Routing, jobs: Sequence[Job]) -> None:
        """Is it a lead that the code was not written for, or is the code of no use for any? Raises its fault then."""
        broken = {job.lead_id for job, _ in routing.broken}
        if len(broken) + len(routing.put_back) < len(jobs):
            self._suspects, self._in_vain = set(), 0
            self._breaker.close()
        elif routing.put_back:
            self._in_vain += 1
            if self._in_vain >= IN_VAIN_MAX:
                self._breaker.doubt(f"no lead could be written: {next(iter(routing.put_back.values()))}")
        self._suspects |= broken
        if not broken:
            return
        _, fault = routing.broken[0]
        if len(broken) == len(jobs):
            self._breaker.doubt(f"{type(fault).__name__} on every lead, told in the log")
        if len(self._suspects) >= SUSPECTS_MAX:
            text = f"released: {type(fault).__name__} on {len(self._suspects)} leads in a row"
            self._store.end([(job, Release(0.0, text, keeps_place=True)) for job, _ in routing.broken])
            raise fault
        for job, own in routing.broken:
            routing.fail([job], own)

    def _give_back(self) -> None:
        """What was claimed when the store went away; no attempt counts, as no job was to blame."""
        if self._owed:
            self._store.end(self._owed)
            _log.info("claims_given_back", jobs=len(self._owed))
            self._owed = []

    def _stand_back(self, routing: Routing, fault: LeadRouterError) -> None:
        kind = type(fault).__name__
        why = f"{kind}: {fault}"
        match fault:
            case Ending():
                _log.info("claims_released", released=len(routing.open))
                self._store.end([(job, Release(0.0, str(fault), keeps_place=True)) for job in routing.open.values()])
                return
            case RateLimited(retry_after=retry_after, daily=True):
                delay = self._breaker.trip(max(retry_after, DAILY_LIMIT_S), why=why)
            case RateLimited(retry_after=retry_after):
                # Routers that met the limit together must not meet it together again.
                delay = self._breaker.trip(retry_after * self._dice.uniform(1.0, BURST_SPREAD), why=why)
            case ContractMismatch():
                # The configuration may ask for what the org has no more, as a field that was deleted.
                self._current.outdate("what it asks for was refused")
                delay = self._breaker.trip(why=why, spares=False)
            case _:
                delay = self._breaker.trip(why=why)
        _log.warning("service_faulted", kind=kind, error=str(fault), released=len(routing.open), delay_s=delay)
        after_s = 0.0 if isinstance(fault, ContractMismatch) else delay  # mended, nothing is to wait
        self._store.end([(job, Release(after_s, why, keeps_place=True)) for job in routing.open.values()])

    def _unfit_now(self) -> set[str]:
        """Owners that Salesforce refused lately; all are tried again after a while, as a person may have helped."""
        if self._now() - self._unfit_since > UNFIT_FOR:
            self._unfit, self._unfit_since = set(), self._now()
        return self._unfit

    def _wait_s(self, job: Job) -> float:
        return backoff_s(job.attempts, job.idempotency_key, first_s=self._backoff_first_s, cap_s=self._backoff_cap_s)

    def close(self) -> None:
        """Free the store, and before it what is still claimed."""
        try:
            self._give_back()
        except Transient as fault:
            _log.warning("claims_not_given_back", jobs=len(self._owed), error=str(fault))
        self._store.close()
