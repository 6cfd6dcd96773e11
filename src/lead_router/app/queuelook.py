"""The queue as monitoring sees it: read seldom, on a thread of its own, and waited for a moment only."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

import structlog

from lead_router.ports import JobStore
from lead_router.ports.depths import Depths

_log = structlog.get_logger(__name__)

EVERY_S: Final = 5.0  # at most one reading in this time, however many ask
SPARED: Final = 20  # a reading that took long is repeated after so many times as long
WAIT_S: Final = 1.0  # who asks waits no longer for a reading
STALE_S: Final = 15.0  # an older reading is no answer


class QueueLook:
    """Reads when asked. A database that is away or slow holds up its own thread alone; `open_store` is called on it."""

    def __init__(self, open_store: Callable[[], JobStore], monotonic: Callable[[], float]) -> None:
        self._open_store = open_store
        self._monotonic = monotonic
        self._changed = threading.Condition()
        self._wanted = False
        self._ended = False
        self._last: Depths | None = None
        self._read_at = float("-inf")
        self._next_at = float("-inf")
        self._thread = threading.Thread(target=self._run, name="queue-look", daemon=True)
        self._thread.start()

    def look(self) -> Depths | None:
        """The queue as it was seconds ago at most; None where the database does not answer."""
        with self._changed:
            if self._monotonic() >= self._next_at:
                self._wanted = True
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._ended or not self._wanted, WAIT_S)
            return self._last if self._monotonic() - self._read_at <= max(STALE_S, self._age_allowed()) else None

    def close(self) -> None:
        """End the thread, which is waited for a moment."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        self._thread.join(WAIT_S)

    def _age_allowed(self) -> float:
        return self._next_at - self._read_at

    def _run(self) -> None:
        store: JobStore | None = None
        while self._await():
            began = self._monotonic()
            found: Depths | None = None
            try:
                store = store or self._open_store()
                found = store.depths()
            except Exception as fault:  # noqa: BLE001 - whatever it is, the gauges vanish and the next reading is tried
                _log.debug("queue_not_seen", error=str(fault), kind=type(fault).__name__)
            self._keep(found, began)
        if store is not None:
            store.close()

    def _await(self) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: self._ended or self._wanted)
            return not self._ended

    def _keep(self, found: Depths | None, began: float) -> None:
        with self._changed:
            now = self._monotonic()
            self._last, self._read_at, self._wanted = found, now, False
            self._next_at = now + max(EVERY_S, SPARED * (now - began))
            self._changed.notify_all()
