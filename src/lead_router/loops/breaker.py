"""A breaker: after a fault of the service itself, nobody claims jobs for a while (no attempt is used up by it).

closed ──fault──▶ open ──its time is over──▶ half-open: one worker tries one batch
  ▲                 ▲                             │
  │                 └───────────fault─────────────┤
  └────────────────────────success────────────────┘
"""

from __future__ import annotations

import threading
from collections.abc import Callable

FIRST_S = 1.0
CAP_S = 60.0
TOLD_S = 90.0  # a fault is told until what it befell was tried again, after a minute at most


class Breaker:
    """Shared by the workers of a process. Delays double from `FIRST_S` to `CAP_S` until a success closes it."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._until = 0.0
        self._trips = 0
        self._tried = False
        self._spares = True
        self._why: str | None = None
        self._why_until = 0.0

    def open_s(self) -> float:
        """Seconds until claiming is allowed again; 0 when it is."""
        with self._lock:
            return self._open_s()

    def spared_s(self) -> float:
        """Seconds until the org may be asked again for what does not depend on the configuration in force."""
        with self._lock:
            return self._open_s() if self._spares else 0.0

    def closed(self) -> bool:
        """Whether the last that was heard of the service was no fault of it."""
        with self._lock:
            return self._trips == 0

    def admits(self) -> bool:
        """Whether the caller may claim: nobody while it is open, then one worker until that went well, else all.

        Whoever was let through says how it went by `trip` or `close`, or that nothing did by `pass_on`. It tries a
        whole batch, which takes as many calls as one lead; one lead put back alone would lose its place in the line.
        """
        with self._lock:
            if self._open_s() > 0 or self._tried:
                return False
            self._tried = self._trips > 0
            return True

    def trip(self, at_least_s: float = 0.0, *, why: str = "", spares: bool = True) -> float:
        """Open for `at_least_s` or the next doubled delay, whichever is longer; the answer is that delay in seconds.

        Without `spares` the org answers, and only what it is asked for with the configuration in force is at fault.
        """
        with self._lock:
            self._spares = spares or (self._spares and self._open_s() > 0)
            delay = max(at_least_s, min(CAP_S, FIRST_S * 2.0**self._trips))
            self._trips = min(self._trips + 1, 16)
            self._until = max(self._until, self._monotonic() + delay)
            self._tried = False
            self._note(why)
            return delay

    def doubt(self, why: str) -> None:
        """Something is wrong with the last routing, yet not with the service: claim as usual."""
        with self._lock:
            self._note(why)

    def close(self) -> None:
        """The service answered: claim as usual."""
        with self._lock:
            self._trips = 0
            self._until = 0.0
            self._tried = False
            self._spares = True
            self._why = None

    def cured(self) -> None:
        """Another configuration is in force: close it, where the former one may have opened it."""
        if not self._spares:
            self.close()

    def pass_on(self) -> None:
        """There was nothing to try: the next who asks may."""
        with self._lock:
            self._tried = False

    def why(self) -> str | None:
        """Why the last routing failed; None once one went well, or where nothing was tried again for `TOLD_S`."""
        with self._lock:
            return self._why if self._monotonic() < self._why_until else None

    def _open_s(self) -> float:
        return max(0.0, self._until - self._monotonic())

    def _note(self, why: str) -> None:
        self._why = why or "the service was at fault"
        self._why_until = max(self._until, self._monotonic()) + TOLD_S
