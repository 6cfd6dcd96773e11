"""The worker: claims due jobs, routes them, and puts back what could not be routed now."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime, timedelta

import structlog

from lead_router.core.backoff import backoff_s
from lead_router.errors import Ending, LeadRouterError, RateLimited, StoreUnavailable
from lead_router.loops.breaker import Breaker
from lead_router.loops.capping import REROUTES_MAX
from lead_router.loops.current import Current
from lead_router.loops.routing import Routing
from lead_router.ports import Job, JobStore, Org, Release

_log = structlog.get_logger(__name__)

DAILY_LIMIT_S = 60.0
UNFIT_FOR = timedelta(minutes=5)


class Worker:
    """One claim per step. Faults of the service itself release the claims without an attempt and open the breaker."""

    def __init__(
        self,
        org: Org,
        store: JobStore,
        current: Current,
        breaker: Breaker,
        *,
        name: str,
        now: Callable[[], datetime],
        pause: Callable[[float], None],
        dice: random.Random,
        batch_max: int,
        lease_s: float,
        backoff_first_s: float,
        backoff_cap_s: float,
        reroutes_max: int = REROUTES_MAX,
    ) -> None:
        self._org = org
        self._store = store
        self._current = current
        self._breaker = breaker
        self._name = name
        self._now = now
        self._pause = pause
        self._dice = dice
        self._batch_max = batch_max
        self._lease_s = lease_s
        self._backoff_first_s = backoff_first_s
        self._backoff_cap_s = backoff_cap_s
        self._reroutes_max = reroutes_max
        self._unfit: set[str] = set()
        self._unfit_since = now()

    def step(self) -> bool:
        """Claim and route at most `batch_max` jobs; False when none is due or the breaker is open."""
        if self._breaker.open_s() > 0:
            return False
        jobs = self._store.claim(self._name, limit=self._batch_max, lease_s=self._lease_s)
        if not jobs:
            return False
        routing = Routing(
            self._org,
            self._store,
            self._current.get(),
            now=self._now,
            pause=self._pause,
            dice=self._dice,
            lease_s=self._lease_s,
            wait_s=self._wait_s,
            unfit=self._unfit_now(),
            reroutes_max=self._reroutes_max,
        )
        try:
            routing.route(jobs)
        except StoreUnavailable:
            raise
        except LeadRouterError as fault:
            self._stand_back(routing, fault)
            return False
        except Exception as fault:  # noqa: BLE001 - the attempt is counted, whatever the fault
            _log.exception("routing_failed", leads=len(routing.open))
            routing.fail(list(routing.open.values()), fault)
            return True
        self._breaker.close()
        return True

    def _stand_back(self, routing: Routing, fault: LeadRouterError) -> None:
        match fault:
            case Ending():
                _log.info("claims_released", released=len(routing.open))
                self._store.end([(job, Release(0.0, str(fault))) for job in routing.open.values()])
                return
            case RateLimited(retry_after=retry_after, daily=daily):
                delay = self._breaker.trip(max(retry_after, DAILY_LIMIT_S if daily else 0.0))
            case _:
                delay = self._breaker.trip()
        kind = type(fault).__name__
        _log.warning("service_faulted", kind=kind, error=str(fault), released=len(routing.open), delay_s=delay)
        self._store.end([(job, Release(delay, f"{kind}: {fault}")) for job in routing.open.values()])

    def _unfit_now(self) -> set[str]:
        """Owners that Salesforce refused lately; all are tried again after a while, as a person may have helped."""
        if self._now() - self._unfit_since > UNFIT_FOR:
            self._unfit, self._unfit_since = set(), self._now()
        return self._unfit

    def _wait_s(self, job: Job) -> float:
        return backoff_s(job.attempts, job.idempotency_key, first_s=self._backoff_first_s, cap_s=self._backoff_cap_s)

    def close(self) -> None:
        """Free the store."""
        self._store.close()
