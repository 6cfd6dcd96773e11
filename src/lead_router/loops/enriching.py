"""Enriching: a provider is asked about leads whose jobs wait for that, or were routed meanwhile; beside all routing.

Whatever the provider does, jobs are due at their deadline; once it is known to be at fault they wait for nothing, and
leads that were routed long ago are those by which it is tried again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field, replace

import structlog

from lead_router.core.backoff import backoff_s
from lead_router.core.enrichment import Asking, Request, asked_with, digest, picked, requested
from lead_router.core.model import Lead
from lead_router.errors import LeadRouterError, Misconfigured, Transient
from lead_router.loops.current import Current
from lead_router.loops.filling import FILL_AFTER_S, Filling
from lead_router.loops.promptness import Promptness
from lead_router.loops.receipts import unforeseen
from lead_router.ports import (
    Again,
    Answer,
    Answered,
    Faulted,
    Found,
    JobStore,
    NothingKnown,
    Org,
    Over,
    Pending,
    Provider,
    Settlement,
    Taken,
    Unfit,
)

_log = structlog.get_logger(__name__)

LEASE_S = 120.0  # longer than a read of leads and a call together
BACKOFF_FIRST_S = 1.0
BACKOFF_CAP_S = 1_800.0
MISSES_MAX = 3  # calls in a row that the provider failed: then it is no lead's
OVERDUE = 3.0  # times its time-out after which a call is taken for lost: a name that is not resolved keeps no time
UNSEEN_S = 60.0  # a lead that cannot be read for so long is gone
CLOSING_WAITS = 60  # moments that calls under way are waited for at the end
REST_FIRST_S, REST_CAP_S = 1.0, 60.0  # after a fault of this loop's own


@dataclass(slots=True)
class _Call:
    """One request under way, and all leads that it is for."""

    digest: str
    began: float
    rows: list[Taken] = field(default_factory=list)


class Enriching:
    """One step hears what was answered, writes what is due on leads, and asks about as many as there are free lines.

    Its own faults are told in the log and rested from, and raise nothing: no loop that routes ends by them. `told` is
    called with the outcome of each call in a word, and its seconds. `wait` waits a moment for one of the calls.
    """

    def __init__(
        self,
        org: Org,
        store: JobStore,
        current: Current,
        provider: Provider | None,
        promptness: Promptness,
        filling: Filling,
        *,
        pool: Executor,
        wait: Callable[[Collection[Future[Answer]]], object],
        monotonic: Callable[[], float],
        wake: Callable[[], None],
        told: Callable[[str, float], None] = lambda _outcome, _seconds: None,
    ) -> None:
        self._org = org
        self._store = store
        self._current = current
        self._provider = provider
        self._promptness = promptness
        self._breaker = promptness.breaker
        self._filling = filling
        self._pool = pool
        self._wait = wait
        self._monotonic = monotonic
        self._wake = wake
        self._told = told
        self._calls: dict[Future[Answer], _Call] = {}
        self._lost: list[Future[Answer]] = []
        self._owed: list[tuple[Taken, Settlement]] = []
        self._misses = 0
        self._faults = 0
        self._rests_until = monotonic()

    def step(self) -> bool:
        """Do what is due; False where there was nothing, or after a fault for a while."""
        if self._monotonic() < self._rests_until:
            return False
        try:
            busy = self._step()
        except Exception as fault:  # noqa: BLE001 - whatever it is, leads are routed without it
            text = str(fault) if isinstance(fault, LeadRouterError) else unforeseen(fault)
            self._faults += 1
            rest_s = min(REST_CAP_S, REST_FIRST_S * 2.0 ** min(self._faults - 1, 10))
            self._rests_until = self._monotonic() + rest_s
            if self._breaker.open_s() == 0 and not isinstance(fault, Transient):
                self._breaker.trip(rest_s, why=text)
            _log.warning("enriching_failed", kind=type(fault).__name__, error=text, rest_s=rest_s)
            return False
        self._faults = 0
        return busy

    def _step(self) -> bool:
        heard = self._hear()
        filled = self._filling.step()
        asked = self._ask()
        if self._calls and not (heard or filled or asked):
            self._wait(list(self._calls))
        return heard or filled or asked or bool(self._calls)

    def _hear(self) -> bool:
        """What was answered; an answer that the database did not take is kept for the next step."""
        now, asking = self._monotonic(), self._current.get().enrichment
        done = [future for future in self._calls if future.done()]
        for future in done:
            call = self._calls.pop(future)
            self._answered(call, future.result(), now - call.began)
        late_s = OVERDUE * asking.timeout_s if asking is not None else 0.0
        for future in [one for one, call in self._calls.items() if now - call.began > late_s]:
            self._lost.append(future)
            call = self._calls.pop(future)
            self._answered(call, Faulted("no answer in time"), now - call.began)
        self._lost = [future for future in self._lost if not future.done()]
        self._settle()
        return bool(done)

    def _settle(self) -> None:
        if self._owed:
            due = self._store.settle(self._owed)
            self._owed = []
            if due:
                self._wake()

    def _answered(self, call: _Call, answer: Answer, took_s: float) -> None:
        configuration = self._current.get()
        leads, took_ms = [row.lead_id for row in call.rows], round(took_s * 1000)
        match answer:
            case Answered(body=body) if configuration.enrichment is not None:
                result, unfit = picked(configuration.enrichment, body, configuration.field_types)
                _log.info("lead_answered", leads=leads, fields=sorted(result), unfit=unfit, took_ms=took_ms)
                self._owed += [(row, Found(call.digest, result, FILL_AFTER_S)) for row in call.rows]
            case Answered() | NothingKnown():
                _log.info("lead_answered", leads=leads, fields=[], took_ms=took_ms)
                self._owed += [(row, Found(call.digest, {}, FILL_AFTER_S)) for row in call.rows]
            case Unfit(text=text):
                self._owed += [(row, self._over(row, text)) for row in call.rows]
            case Pending(retry_after=retry_after):
                self._owed += [(row, self._again(row, "it is looking", retry_after)) for row in call.rows]
            case Faulted(text=text, retry_after=retry_after):
                self._owed += [(row, self._again(row, text, retry_after)) for row in call.rows]
        self._told(type(answer).__name__.lower(), took_s)
        if isinstance(answer, Faulted):
            self._missed(answer)
        else:
            self._well(min(row.age_s for row in call.rows) + took_s)

    def _missed(self, fault: Faulted) -> None:
        self._misses += 1
        if self._breaker.open_s() > 0:
            return  # it was under way as the breaker opened, and tells nothing new
        if self._misses >= MISSES_MAX or fault.retry_after > 0 or not self._breaker.closed():
            delay_s = self._breaker.trip(fault.retry_after, why=fault.text)
            _log.warning("provider_faulted", error=fault.text, misses=self._misses, delay_s=delay_s)

    def _well(self, age_s: float) -> None:
        self._misses = 0
        asking = self._current.get().enrichment
        if asking is not None:
            self._promptness.note(age_s, asking.deadline_s)
        if not self._breaker.closed():
            _log.info("provider_recovered")
        self._breaker.close()

    def _again(self, row: Taken, reason: str, at_least_s: float) -> Settlement:
        asking = self._current.get().enrichment
        if asking is None or row.attempts >= asking.tries:
            return self._over(row, f"given up after {row.attempts} tries: {reason}")
        wait_s = backoff_s(row.attempts, row.lead_id, first_s=BACKOFF_FIRST_S, cap_s=BACKOFF_CAP_S)
        return Again(max(at_least_s, wait_s), reason)

    def _over(self, row: Taken, reason: str) -> Settlement:
        _log.warning("enrichment_given_up", lead=row.lead_id, error=reason)
        return self._without(row, Over(reason, failed=True))

    def _without(self, row: Taken, over: Over) -> Settlement:
        """Nobody answered; a score is written all the same, of what is known."""
        scoring = self._current.get().scoring
        if scoring is None or scoring.field is None:
            return over
        return Found(row.inputs or "", row.result or {}, FILL_AFTER_S, row.answered_age_s)

    def _ask(self) -> bool:
        asking = self._current.get().enrichment
        free = 0 if asking is None else asking.together - len(self._calls) - len(self._lost)
        if asking is None or self._provider is None or free < 1 or not self._breaker.admits():
            return False
        calls = False
        try:
            limit = free if self._breaker.closed() else 1
            rows = self._store.take_enrichments("asked", limit=limit, lease_s=LEASE_S)
            if rows:
                calls = self._begun(asking, self._provider, rows)
                self._settle()
            return bool(rows)
        finally:
            if not calls:
                self._breaker.pass_on()

    def _begun(self, asking: Asking, provider: Provider, rows: Sequence[Taken]) -> bool:
        """Whether calls began; leads that need none are settled."""
        leads = self._leads(asking, rows)
        requests = [(row, self._request(asking, row, leads.get(row.lead_id))) for row in rows]
        asked = [(row, one, digest(one)) for row, one in requests if one is not None]
        known = self._store.answered([name for _, _, name in asked], within_s=asking.cache_s)
        under_way = {call.digest: call for call in self._calls.values()}
        began = False
        for row, request, name in asked:
            if name in known:
                result, age_s = known[name]
                self._owed.append((row, Found(name, result, FILL_AFTER_S, age_s)))
                self._told("known", 0.0)
                continue
            if name not in under_way:
                under_way[name] = _Call(name, self._monotonic())
                self._calls[self._pool.submit(provider.ask, request)] = under_way[name]
            under_way[name].rows.append(row)
            began = True
        return began

    def _request(self, asking: Asking, row: Taken, lead: Lead | None) -> Request | None:
        if lead is None:
            over = row.age_s > UNSEEN_S
            self._owed.append((row, Over("gone") if over else Again(2.0, "not to be read yet", counts=False)))
            return None
        request = None if lead.is_converted else requested(asking, lead.fields)
        if request is None:
            why = "converted" if lead.is_converted else "nothing to ask by"
            self._owed.append((row, Over(why) if lead.is_converted else self._without(row, Over(why))))
        return request

    def _leads(self, asking: Asking, rows: Sequence[Taken]) -> Mapping[str, Lead]:
        configuration = self._current.get()
        fields = asked_with(asking)
        lacking = sorted(fields - configuration.field_types.keys()) if configuration.field_types else []
        try:
            if lacking:
                raise Misconfigured(
                    f"{asking.source} asks by {', '.join(lacking)}, which Lead has not: name other fields"
                )
            read = replace(configuration, lead_fields=configuration.lead_fields | fields)
            return self._org.leads(read, [row.lead_id for row in rows])
        except LeadRouterError as fault:
            why = f"the leads were not read: {type(fault).__name__}"
            self._owed += [(row, Again(REST_FIRST_S, why, counts=False)) for row in rows]
            self._settle()
            raise

    def close(self) -> None:
        """What is under way is heard, as it is paid for; the pool is left to its threads."""
        try:
            for _ in range(CLOSING_WAITS):
                if self._calls:
                    self._wait(list(self._calls))
                    self._hear()
            self._owed += [(row, Again(0.0, "released", counts=False)) for c in self._calls.values() for row in c.rows]
            self._settle()
        except Transient as fault:
            _log.warning("enriching_failed", kind=type(fault).__name__, error=str(fault), rest_s=0.0)
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._store.close()
