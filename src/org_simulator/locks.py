from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import threading
    from collections.abc import Hashable

    from org_simulator.clock import Clock

WAIT_LIMIT_S = 10.0
"""Seconds that a transaction waits for one lock (Apex Developer Guide, Locking Statements)."""

Holder: TypeAlias = "Hashable"


@dataclass(slots=True)
class _Lock:
    holder: Holder | None
    waiting: list[Holder] = field(default_factory=list)


class Locks:
    """Who holds which row or unique value; each is held to the end of its transaction. First come, first served.

    Every method must be called holding `changed`.
    """

    def __init__(self, changed: threading.Condition, clock: Clock, *, detect_deadlocks: bool) -> None:
        self._changed = changed
        self._clock = clock
        self._detect_deadlocks = detect_deadlocks
        self._locks: dict[Hashable, _Lock] = {}
        self._held: dict[Holder, list[Hashable]] = {}
        self._wanted: dict[Holder, Hashable] = {}

    @property
    def waiting(self) -> int:
        """How many transactions wait for a lock."""
        return len(self._wanted)

    def acquire(self, holder: Holder, name: Hashable) -> bool:
        """Hold `name`, waiting up to WAIT_LIMIT_S; False if the time ran out or the wait would never end."""
        lock = self._locks.get(name)
        if lock is None:
            self._locks[name] = _Lock(holder)
            self._held.setdefault(holder, []).append(name)
            return True
        return lock.holder == holder or self._wait(holder, name, lock)

    def release_all(self, holder: Holder) -> None:
        """End of a transaction: let go of everything it holds."""
        for name in self._held.pop(holder, ()):
            lock = self._locks[name]
            lock.holder = None
            if not lock.waiting:
                del self._locks[name]
        self._changed.notify_all()

    def _wait(self, holder: Holder, name: Hashable, lock: _Lock) -> bool:
        self._wanted[holder] = name
        lock.waiting.append(holder)
        deadline = self._clock.monotonic() + WAIT_LIMIT_S
        try:
            if self._detect_deadlocks and self._circular(holder):
                return False
            while lock.holder is not None or lock.waiting[0] != holder:
                remaining = deadline - self._clock.monotonic()
                if remaining <= 0:
                    return False
                self._clock.wait(self._changed, remaining)
            lock.holder = holder
            self._held.setdefault(holder, []).append(name)
            return True
        finally:
            del self._wanted[holder]
            lock.waiting.remove(holder)
            if lock.holder is None and not lock.waiting:
                del self._locks[name]
            self._changed.notify_all()

    def _circular(self, holder: Holder) -> bool:
        """Whether following who waits for whom leads back to `holder`."""
        at = self._wanted.get(holder)
        seen: set[Hashable] = set()
        while at is not None and at not in seen:
            seen.add(at)
            owner = self._locks[at].holder
            if owner == holder:
                return True
            at = None if owner is None else self._wanted.get(owner)
        return False
