"""Faults of the event stream, armed by name and used up one by one: a test or a demo can tell the same story twice."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from random import Random

NAMES = frozenset(
    {
        "lose_event",  # a committed change never becomes an event
        "gap_event",  # a committed change becomes a GAP event
        "overflow",  # a committed transaction becomes one GAP_OVERFLOW per entity
        "cut",  # the request's connection is cut before anything is done
        "http",  # the request is answered with an HTML page of the HTTP status in `text`
        "busy",  # a connect is answered 401 outside and 503 inside
        "refuse_handshake",  # a handshake is denied for the reason in `text`
        "refuse_subscribe",  # a subscribe is refused with the error in `text`
        "drop_session",  # a connect finds its session gone
        "disconnect",  # the server says goodbye with advice none
        "lose_answer",  # an answer with events is cut in mid body; the session has moved on
        "duplicate",  # an event is delivered twice
        "rewind",  # a replay begins `text` events early
    }
)


@dataclass(slots=True)
class _Armed:
    count: int
    probability: float
    text: str


class StreamFaults:
    """The faults still to happen. Safe to call from any thread."""

    def __init__(self, dice: Random) -> None:
        self._dice = dice
        self._lock = threading.Lock()
        self._armed: dict[str, list[_Armed]] = {}

    def arm(self, name: str, *, count: int = 1, probability: float = 1.0, text: str = "") -> None:
        """Let the fault happen `count` times, at each occasion with `probability`; ValueError for an unknown name."""
        if name not in NAMES:
            raise ValueError(f"no stream fault is called {name!r}: choose from {', '.join(sorted(NAMES))}")
        with self._lock:
            self._armed.setdefault(name, []).append(_Armed(count, probability, text))

    def take(self, name: str) -> str | None:
        """The text of the fault that happens at this occasion, or None."""
        with self._lock:
            for armed in self._armed.get(name, ()):
                if armed.count > 0 and self._dice.random() < armed.probability:
                    armed.count -= 1
                    return armed.text
        return None

    def first(self, names: Iterable[str]) -> tuple[str, str] | None:
        """Name and text of the first of `names` that happens now."""
        for name in names:
            if (text := self.take(name)) is not None:
                return name, text
        return None

    def clear(self) -> None:
        """Disarm everything."""
        with self._lock:
            self._armed.clear()

    def left(self) -> dict[str, int]:
        """How often each fault is still to happen."""
        with self._lock:
            return {
                name: sum(a.count for a in armed) for name, armed in self._armed.items() if any(a.count for a in armed)
            }
