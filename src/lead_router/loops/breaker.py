"""A breaker: after a fault of the service itself, nobody claims jobs for a while (no attempt is used up by it)."""

from __future__ import annotations

import threading
from collections.abc import Callable

FIRST_S = 1.0
CAP_S = 60.0


class Breaker:
    """Shared by the workers of a process. Delays double from `FIRST_S` to `CAP_S` until a success closes it."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._until = 0.0
        self._trips = 0

    def open_s(self) -> float:
        """Seconds until claiming is allowed again; 0 when it is."""
        with self._lock:
            return max(0.0, self._until - self._monotonic())

    def trip(self, at_least_s: float = 0.0) -> float:
        """Open for `at_least_s` or the next doubled delay, whichever is longer; the answer is that delay in seconds."""
        with self._lock:
            delay = max(at_least_s, min(CAP_S, FIRST_S * 2.0**self._trips))
            self._trips = min(self._trips + 1, 16)
            self._until = max(self._until, self._monotonic() + delay)
            return delay

    def close(self) -> None:
        """The service answered: claim as usual."""
        with self._lock:
            self._trips = 0
            self._until = 0.0
