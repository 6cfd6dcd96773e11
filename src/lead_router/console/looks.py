"""Looks: questions that take time, asked on threads, each with a deadline; answers of the org are shared and kept."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from lead_router.core.hidden import scrub
from lead_router.errors import LeadRouterError, StoreUnavailable, Transient, Unreachable

T = TypeVar("T")

ORG_THREADS = 4
STORE_THREADS = 4
PAGE_S = 8.0
"""How long a page waits for the org before it is shown without its answer."""
ASKED_S = 45.0
"""How long what a person asked for, as a lead's story or a plan, may take."""
STORE_S = 10.0
"""How long a page waits for the job database."""
FAULT_FRESH_S = 5.0
"""How long a fault of the org is believed before it is asked again."""


@dataclass(frozen=True, slots=True)
class Sight(Generic[T]):
    """What the org last said, `age_s` seconds ago, if it ever did; `fault` says why it does not say so now.

    `away`: it did not answer; False: a person must change something first.
    """

    value: T | None
    age_s: float | None
    fault: str | None = None
    away: bool = False


@dataclass(frozen=True, slots=True)
class _Answer:
    value: Any
    at: float


class _Threads:
    """So many threads, each with one question at a time; whatever they wait for, the process may end."""

    def __init__(self, count: int, name: str) -> None:
        self._asked: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._threads = [threading.Thread(target=self._run, name=f"{name}_{at}", daemon=True) for at in range(count)]
        for one in self._threads:
            one.start()

    def submit(self, ask: Callable[[], T]) -> Future[T]:
        """Its answer, once a thread is free; who cancels before that spares the question."""
        told: Future[T] = Future()
        self._asked.put((told, ask))
        return told

    def close(self) -> None:
        """Each thread ends after what it is at."""
        for _ in self._threads:
            self._asked.put(None)

    def _run(self) -> None:
        while (found := self._asked.get()) is not None:
            told, ask = found
            if not told.set_running_or_notify_cancel():
                continue
            try:
                told.set_result(ask())
            except BaseException as fault:  # noqa: BLE001 - raised where the answer is awaited
                told.set_exception(fault)


class Looks:
    """Threads for the org and for the store, apart: an org that hangs holds up no look at the queue."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, page_s: float = PAGE_S) -> None:
        self._clock = clock
        self._page_s = page_s
        self._org = _Threads(ORG_THREADS, "org")
        self._store = _Threads(STORE_THREADS, "store")
        self._seen: dict[str, _Answer] = {}
        self._faults: dict[str, tuple[LeadRouterError, float]] = {}
        self._under_way: dict[str, asyncio.Future[Any]] = {}

    async def org(self, name: str, ask: Callable[[], T], *, fresh_s: float, within_s: float | None = None) -> Sight[T]:
        """What the org says, or said at most `fresh_s` seconds ago, whoever looked then; one question at a time.

        A page waits for it for `within_s` seconds, or as long as for all else.
        """
        seen = self._seen.get(name)
        if seen is not None and self._clock() - seen.at < fresh_s:
            return Sight(seen.value, self._clock() - seen.at)
        fault = self._fresh_fault(name)
        if fault is None:
            asked = self._under_way.get(name) or self._asked(name, ask)
            await asyncio.wait({asked}, timeout=self._page_s if within_s is None else within_s)
            fault = self._outcome(name, asked)
            seen = self._seen.get(name)
        value, age_s = (None, None) if seen is None else (seen.value, self._clock() - seen.at)
        if fault is None:
            return Sight(value, age_s)
        return Sight(value, age_s, scrub(str(fault)), isinstance(fault, Transient))

    async def asked(self, ask: Callable[[], T], *, within_s: float = ASKED_S) -> T:
        """The answer to what a person asked of the org; raises as `ask` does, and Unreachable after `within_s`."""
        try:
            return await asyncio.wait_for(self._on(self._org, ask), within_s)
        except TimeoutError:
            raise Unreachable(f"Salesforce has not answered within {within_s:g} s: try again") from None

    async def store(self, ask: Callable[[], T]) -> T:
        """The answer of the job database; raises as `ask` does, and StoreUnavailable after STORE_S."""
        try:
            return await asyncio.wait_for(self._on(self._store, ask), STORE_S)
        except TimeoutError:
            raise StoreUnavailable(f"the job database has not answered within {STORE_S:g} s") from None

    def close(self) -> None:
        """Nothing more is asked; what is under way ends by its own deadlines."""
        for threads in (self._org, self._store):
            threads.close()

    @staticmethod
    def _on(threads: _Threads, ask: Callable[[], T]) -> asyncio.Future[T]:
        return asyncio.wrap_future(threads.submit(ask))

    def _asked(self, name: str, ask: Callable[[], Any]) -> asyncio.Future[Any]:
        asked = self._under_way[name] = self._on(self._org, ask)

        def note(done: asyncio.Future[Any]) -> None:
            self._under_way.pop(name, None)
            if done.cancelled():
                return
            fault = done.exception()
            if fault is None:
                self._seen[name] = _Answer(done.result(), self._clock())
                self._faults.pop(name, None)
            elif isinstance(fault, LeadRouterError):
                self._faults[name] = (fault, self._clock())

        asked.add_done_callback(note)
        return asked

    def _fresh_fault(self, name: str) -> LeadRouterError | None:
        fault, at = self._faults.get(name, (None, 0.0))
        return fault if fault is not None and self._clock() - at < FAULT_FRESH_S else None

    def _outcome(self, name: str, asked: asyncio.Future[Any]) -> LeadRouterError | None:
        """Why there is no new answer; a fault of the code is raised."""
        if not asked.done():
            return Unreachable(f"it has not answered within {self._page_s:g} s")
        fault = asked.exception()
        if fault is None:
            return None
        if isinstance(fault, LeadRouterError):
            self._faults.setdefault(name, (fault, self._clock()))
            return fault
        raise fault
