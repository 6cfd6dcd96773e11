from __future__ import annotations

import threading
import time
from datetime import UTC, datetime, timedelta
from typing import Protocol

POLL_S = 0.05
"""Real seconds after which a wait on a driven clock looks again, so that no wake-up can be missed for good."""


class Clock(Protocol):
    """Time as the org sees it: every deadline of the simulator is read from here."""

    def now(self) -> datetime:
        """The present moment, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        ...

    def wait(self, condition: threading.Condition, timeout_s: float) -> None:
        """Wait, holding `condition`, for a notice or `timeout_s`; may return early, so callers look again."""
        ...


class SystemClock:
    """The computer's own time."""

    def now(self) -> datetime:
        """The present moment, aware, in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        return time.monotonic()

    def wait(self, condition: threading.Condition, timeout_s: float) -> None:
        """Wait, holding `condition`, for a notice or `timeout_s`."""
        condition.wait(max(timeout_s, 0.0))


class ManualClock:
    """Time that moves only when told; starts at `start` (aware) and never runs backwards."""

    def __init__(self, start: datetime) -> None:
        self._start = start.astimezone(UTC)
        self._elapsed_s = 0.0
        self._lock = threading.Lock()
        self._waiting: list[threading.Condition] = []

    def now(self) -> datetime:
        """The moment that was set, aware, in UTC."""
        return self._start + timedelta(seconds=self._elapsed_s)

    def monotonic(self) -> float:
        """Seconds since the start that were told."""
        return self._elapsed_s

    @property
    def waiting(self) -> int:
        """How many threads wait for this clock right now."""
        with self._lock:
            return len(self._waiting)

    def advance(self, seconds: float) -> None:
        """Move time on and let every waiter look at it; must not be called while holding a waiter's condition."""
        if seconds < 0:
            raise ValueError("time never runs backwards")
        with self._lock:
            self._elapsed_s += seconds
            waiting = list(self._waiting)
        for condition in waiting:
            with condition:
                condition.notify_all()

    def wait(self, condition: threading.Condition, timeout_s: float) -> None:
        """Wait, holding `condition`, for a notice, an advance or POLL_S real seconds."""
        if timeout_s <= 0:
            return
        with self._lock:
            self._waiting.append(condition)
        try:
            condition.wait(POLL_S)
        finally:
            with self._lock:
                self._waiting.remove(condition)
